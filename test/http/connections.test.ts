import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { type RunningServer, type ServeOptions, serveHttp } from '../../src/http/serve.ts';
import { eventually } from '../support/wait.ts';

let server: RunningServer | undefined;
let endWaiting: (() => void) | undefined;
afterEach(async () => {
  endWaiting?.();
  await server?.close();
});

/** A server whose `/wait` responds when told to. */
async function start(options: Partial<ServeOptions>): Promise<(localAddress?: string) => Promise<Socket>> {
  const waiting = Promise.withResolvers<void>();
  endWaiting = waiting.resolve;
  const running = await serveHttp(
    {
      fetch: async ({ url }) => {
        if (url.endsWith('/wait')) await waiting.promise;
        return new Response('done');
      },
    },
    { host: '127.0.0.1', port: 0, logger: pino({ level: 'silent' }), ...options },
  );
  server = running;
  return async (localAddress = '127.0.0.1') => {
    const socket = connect({ port: Number(new URL(running.url).port), host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };
}
const ask = (socket: Socket, path: string) => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
const isClosed = (socket: Socket) =>
  eventually(
    async () => socket.destroyed || socket.readableEnded,
    (closed) => closed,
  );
async function served(socket: Socket): Promise<string> {
  ask(socket, '/');
  const [data] = await once(socket, 'data');
  return String(data).slice(0, 12);
}

// contract.md A54
test('at the limit of connections the one that is idle longest goes, and none with a request', async () => {
  const open = await start({ maxConnections: 3 });
  const [first, second, third] = [await open(), await open(), await open()];
  ask(second, '/wait');
  expect(await served(third)).toBe('HTTP/1.1 200');
  expect(await served(first)).toBe('HTTP/1.1 200');
  third.resume();
  first.resume();
  // Idle since its response, which was before that of the first.
  const fourth = await open();
  await isClosed(third);
  expect(await served(fourth)).toBe('HTTP/1.1 200');
  ask(first, '/wait');
  ask(fourth, '/wait');
  await new Promise((resolve) => setTimeout(resolve, 50));
  const fifth = await open();
  fifth.resume();
  await isClosed(fifth);
  const ended = [first, second, fourth].map((socket) => once(socket, 'data'));
  endWaiting?.();
  expect((await Promise.all(ended)).map(([data]) => String(data).slice(0, 12))).toEqual(
    Array(3).fill('HTTP/1.1 200'),
  );
});

// contract.md A54
test('a peer has a part of the connections, a trusted proxy has no part of its own', async () => {
  const open = await start({ maxPerPeer: 2, trustedProxies: ['127.0.0.3'] });
  const other = await open('127.0.0.2');
  const [first, second] = [await open(), await open()];
  const proxied = await Promise.all(Array.from({ length: 5 }, () => open('127.0.0.3')));
  const third = await open();
  first.resume();
  await isClosed(first);
  for (const socket of [other, second, third, ...proxied]) {
    expect(await served(socket)).toBe('HTTP/1.1 200');
  }
});

// contract.md A19
test('a request that waits for its response longer than nothing may move gets it all the same', async () => {
  const open = await start({ stallTimeout: 200 });
  const waiting = await open();
  ask(waiting, '/wait');
  const idle = await open();
  idle.resume();
  const sending = await open();
  sending.resume();
  sending.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx');
  await Promise.all([isClosed(idle), isClosed(sending)]);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const response = once(waiting, 'data');
  endWaiting?.();
  expect(String(await response)).toMatch(/^HTTP\/1.1 200 /);
});

// contract.md A19
test('a request whose headers come too late is 408, a connection without any is closed, and others are served', async () => {
  const open = await start({ headersTimeout: 500 });
  const unused = await Promise.all(Array.from({ length: 100 }, () => open('127.0.0.2')));
  const sent: Buffer[] = [];
  for (const socket of unused) socket.on('data', (data) => sent.push(data));
  const late = await open();
  late.write('GET / HT');
  const response = once(late, 'data');
  expect(String(await response)).toMatch(/^HTTP\/1.1 408 .*"code":"INVALID_REQUEST"/s);
  await Promise.all(unused.map(isClosed));
  expect(sent).toEqual([]);
  expect(await served(await open())).toBe('HTTP/1.1 200');
});
