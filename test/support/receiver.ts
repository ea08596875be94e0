import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { TLSSocket } from 'node:tls';
import { listenAlone } from './ports.ts';

export interface Received {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: Buffer;
  /** `raw`, parsed. */
  readonly body: { event: string; data: Record<string, unknown> };
  /** Which of the receiver's connections carried it, from 1. */
  readonly connection: number;
}

/** What a listener on loopback counts. */
export interface Listening {
  /** Its `origin`, and a path. */
  readonly url: string;
  /** scheme://host:port */
  readonly origin: string;
  readonly port: number;
  /** Connections accepted so far. */
  connections(): number;
  /** Bytes read from all connections so far. */
  bytesRead(): number;
  /** Bytes handed to the kernel on all connections so far. */
  bytesWritten(): number;
  openConnections(): number;
  /** Resets all connections; new ones are still accepted. */
  dropConnections(): void;
  close(): Promise<void>;
}

export interface Receiver extends Listening {
  readonly received: Received[];
  /** The names that TLS clients asked for, one a connection. */
  readonly serverNames: (string | false)[];
  /** Decides the next answers; 204 by default. */
  answer: (request: Received) => number | Promise<number>;
  /** The text of every answer that may have one; empty by default. */
  words: string;
}

export type Respond = (request: Received, response: ServerResponse) => void;

export interface ReceiverOptions {
  host?: string;
  tls?: { key: string; cert: string };
}

/** A real HTTP receiver on loopback that keeps what it got. It responds by `answer` and `words`, or as `respond` does. */
export async function startReceiver(
  respond?: Respond,
  { host = '127.0.0.1', tls }: ReceiverOptions = {},
): Promise<Receiver> {
  const received: Received[] = [];
  const serverNames: (string | false)[] = [];
  const answering: Pick<Receiver, 'answer' | 'words'> = { answer: () => 204, words: '' };
  const counted = new Map<Socket, number>();
  const listener: RequestListener = async (request, response) => {
    const raw = await buffer(request);
    const entry: Received = {
      at: Date.now(),
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers as Record<string, string>,
      raw,
      get body() {
        return JSON.parse(raw.toString());
      },
      connection: counted.get(request.socket) ?? 0,
    };
    received.push(entry);
    if (respond !== undefined) return respond(entry, response);
    response.writeHead(await answering.answer(entry)).end(answering.words);
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    counted.set(socket, counted.size + 1);
    if (socket instanceof TLSSocket) serverNames.push(socket.servername ?? false);
  });
  const listening = await listen(server, host, tls === undefined ? 'http' : 'https');
  return Object.assign(answering, listening, { received, serverNames });
}

/** A TCP server that speaks no HTTP of its own. */
export const startRawReceiver = (onConnection: (socket: Socket) => void): Promise<Listening> =>
  listen(createTcpServer(onConnection), '127.0.0.1', 'http');

/** A listener that must never be reached: the address is loopback, but not an allowed one. */
export async function startTrap(): Promise<Receiver & { address: string; host: string }> {
  const addresses = ['127.0.0.9', '::1'];
  for (const address of addresses) {
    try {
      const trap = await startReceiver(undefined, { host: address });
      return Object.assign(trap, { address, host: new URL(trap.url).host });
    } catch (error) {
      // Some systems configure 127.0.0.1 alone of 127.0.0.0/8; they have ::1.
      if (address === addresses.at(-1)) throw error;
    }
  }
  throw new Error('unreachable');
}

async function listen(server: Server, host: string, scheme: 'http' | 'https'): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  const port = await listenAlone(server, host);
  const total = (count: (socket: Socket) => number): number =>
    [...sockets].reduce((sum, socket) => sum + count(socket), 0);
  const origin = `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    url: `${origin}/hooks`,
    origin,
    port,
    connections: () => sockets.size,
    bytesRead: () => total((socket) => socket.bytesRead),
    bytesWritten: () => total((socket) => socket.bytesWritten),
    openConnections: () => total((socket) => (socket.destroyed ? 0 : 1)),
    dropConnections: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    close: () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
