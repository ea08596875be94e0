import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';

/** A name's answers: one list of addresses per query of A, the last repeated; `'silent'` never answers. */
export type Zone = Record<string, readonly (readonly string[])[] | 'silent'>;

export interface TestDnsServer {
  /** For AddressGuardOptions.dnsServers. */
  readonly servers: readonly string[];
  /** Names asked, in order, one entry for each query of A. */
  readonly asked: string[];
  close(): Promise<void>;
}

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NAME_ERROR = 3;

/** A DNS server on loopback that knows only its zone; unknown names do not exist. @param ttl seconds that its responses hold */
export async function startDnsServer(zone: Zone, ttl = 0): Promise<TestDnsServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    if (type === TYPE_A) asked.push(name);
    const answers = zone[name];
    if (answers === 'silent') return;
    const round = Math.max(0, asked.filter((other) => other === name).length - 1);
    const addresses = (answers?.[round] ?? answers?.at(-1) ?? []).filter(
      (address) => isIP(address) === (type === TYPE_A ? 4 : type === TYPE_AAAA ? 6 : 0),
    );
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8580 | (answers === undefined ? NAME_ERROR : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    const records = addresses.map((address) => toRecord(type, address, ttl));
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), from.port, from.address);
  });
  await new Promise<void>((ready) => socket.bind(0, '127.0.0.1', ready));
  return {
    servers: [`127.0.0.1:${socket.address().port}`],
    asked,
    close: () => new Promise((closed) => socket.close(() => closed())),
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function toRecord(type: number, address: string, ttl: number): Buffer {
  const data = type === TYPE_A ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
  head.writeUInt32BE(ttl, 6);
  return Buffer.concat([head, data]);
}

function ipv6Bytes(address: string): Buffer {
  const [head = '', tail] = address.split('::');
  const groupsOf = (text = ''): string[] => text.split(':').filter((group) => group !== '');
  const before = groupsOf(head);
  const after = groupsOf(tail);
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
