/**
 * Connections that behave badly, in a process of their own: they ask and hardly read, announce and hardly send, or idle.
 * Reads its load as JSON from the environment, and ends with its parent.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a crowd does. */
export interface Crowd {
  readonly port: number;
  /** Local addresses in turn: 127.0.0.2 and those that follow. */
  readonly addresses: number;
  /** Requests of those that hardly read the response, in turn. */
  readonly reads: readonly string[];
  readonly readers: number;
  /** Request of those that announce a body and hardly send it. */
  readonly upload: string;
  readonly uploads: number;
  readonly idle: number;
}

/** Bytes a second of every second connection; the others read or send nothing. */
const TRICKLE_BYTES = 100;
/** New connections at once. */
const AT_ONCE = 100;
const REST_MS = 100;
const TICK_MS = 1_000;

const crowd: Crowd = JSON.parse(process.env.CROWD ?? '{}');
const { port, addresses, reads, readers, upload, uploads, idle } = crowd;
let opened = 0;
let refused = 0;

function open(begin: (socket: Socket) => void): Socket {
  opened += 1;
  const localAddress = `127.0.0.${2 + (opened % addresses)}`;
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
  socket.pause();
  socket.on('error', () => {
    refused += 1;
  });
  socket.once('connect', () => begin(socket));
  return socket;
}

const slots: { socket: Socket; again: () => Socket; tick?: (socket: Socket) => void }[] = [];
async function fill(
  count: number,
  kind: (index: number) => Omit<(typeof slots)[number], 'socket'>,
): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const slot = kind(index);
    slots.push({ ...slot, socket: slot.again() });
    if (index % AT_ONCE === AT_ONCE - 1) await sleep(REST_MS);
  }
}
const idler = () => open(() => undefined);
await fill(idle, () => ({ again: idler }));
await fill(readers, (index) => ({
  again: () => open((socket) => socket.write(reads[index % reads.length] ?? '')),
  ...(index % 2 === 0 ? {} : { tick: (socket: Socket) => void socket.read(TRICKLE_BYTES) }),
}));
await fill(uploads, (index) => ({
  again: () => open((socket) => socket.write(upload)),
  ...(index % 2 === 0 ? {} : { tick: (socket: Socket) => void socket.write(Buffer.alloc(TRICKLE_BYTES)) }),
}));
process.stdout.write('ready\n');
setInterval(() => {
  let reopened = 0;
  for (const slot of slots) {
    // Those that were cut off come again; the idle ones would only push each other out.
    if (slot.socket.destroyed && slot.again !== idler && reopened < AT_ONCE) {
      reopened += 1;
      slot.socket = slot.again();
    }
    if (!slot.socket.destroyed) slot.tick?.(slot.socket);
  }
}, TICK_MS);
process.on('message', (message) => {
  if (message === 'stop') process.send?.({ opened, refused }, () => process.exit(0));
});
process.on('disconnect', () => process.exit(0));
