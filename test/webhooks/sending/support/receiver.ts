import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { TLSSocket } from 'node:tls';

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
  /** Which of the receiver's connections carried it, from 1. */
  connection: number;
}

export interface TestReceiver {
  readonly url: string;
  readonly port: number;
  readonly requests: ReceivedRequest[];
  /** The names that TLS clients asked for, one a connection. */
  readonly serverNames: (string | false)[];
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

export type Respond = (request: ReceivedRequest, response: ServerResponse) => void;

export interface ReceiverOptions {
  host?: string;
  tls?: { key: string; cert: string };
}

/** A receiver over real sockets of loopback. `respond` answers 204 when omitted. */
export async function startReceiver(
  respond: Respond = (_request, response) => response.writeHead(204).end(),
  { host = '127.0.0.1', tls }: ReceiverOptions = {},
): Promise<TestReceiver> {
  const requests: ReceivedRequest[] = [];
  const serverNames: (string | false)[] = [];
  const counted = new Map<Socket, number>();
  const listener: RequestListener = async (request, response) => {
    const received: ReceivedRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: await buffer(request),
      connection: counted.get(request.socket) ?? 0,
    };
    requests.push(received);
    respond(received, response);
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    counted.set(socket, counted.size + 1);
    if (socket instanceof TLSSocket) serverNames.push(socket.servername ?? false);
  });
  const listening = await listen(server, host);
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${listening.port}/hook`,
    requests,
    serverNames,
    ...listening,
  };
}

/** A TCP server that speaks no HTTP of its own. */
export async function startRawReceiver(
  onConnection: (socket: Socket) => void,
  host = '127.0.0.1',
): Promise<Omit<TestReceiver, 'requests' | 'serverNames'>> {
  const listening = await listen(createTcpServer(onConnection), host);
  return { url: `http://${host}:${listening.port}/hook`, ...listening };
}

/** A listener that must never be reached: the address is loopback, but not an allowed one. */
export async function startTrap(): Promise<TestReceiver & { address: string; host: string }> {
  const addresses = ['127.0.0.9', '::1'];
  for (const address of addresses) {
    try {
      const trap = await startReceiver(undefined, { host: address });
      return { ...trap, address, host: new URL(trap.url).host };
    } catch (error) {
      // Some systems configure 127.0.0.1 alone of 127.0.0.0/8; they have ::1.
      if (address === addresses.at(-1)) throw error;
    }
  }
  throw new Error('unreachable');
}

async function listen(server: Server, host: string) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((ready, fail) => {
    server.once('error', fail);
    server.listen(0, host, ready);
  });
  const total = (count: (socket: Socket) => number): number =>
    [...sockets].reduce((sum, socket) => sum + count(socket), 0);
  return {
    port: (server.address() as AddressInfo).port,
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
