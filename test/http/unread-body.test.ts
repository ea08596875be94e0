import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createUnreadBodies } from '../../src/http/unread-body.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startApi, type TestApi } from './support/api.ts';

const MIB = 1024 * 1024;

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApi(database.db);
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

/** A connection that collects what comes. */
async function open(url: string): Promise<{ socket: Socket; text: () => string }> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  onTestFinished(() => {
    socket.destroy();
  });
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString();
  });
  socket.on('error', () => undefined);
  return { socket, text: () => received };
}

const head = (length: number): string =>
  `POST /api/workspaces/00000000-0000-4000-8000-000000000000/api-keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer nonsense\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

const responses = (text: string): number => text.match(/HTTP\/1\.1 401 /g)?.length ?? 0;

// contract.md A57
test('a client that reads only after it has sent a large body gets its refusal, and its connection goes on', async () => {
  const { socket, text } = await open(api.url);
  for (let sent = 1; sent <= 2; sent += 1) {
    socket.pause();
    socket.write(head(2 * MIB));
    await new Promise((resolve) => socket.write(Buffer.alloc(2 * MIB), resolve));
    socket.resume();
    await expect.poll(() => responses(text()), { timeout: 10_000 }).toBe(sent);
  }
  expect(text()).not.toMatch(/connection: close/i);
});

// contract.md A57
test('a refused body that never comes is not waited for, and the connection is closed', async () => {
  const { socket, text } = await open(api.url);
  const closed = once(socket, 'close');
  const startedAt = performance.now();
  socket.write(head(2 * MIB));
  socket.write('{');
  await closed;
  expect(responses(text())).toBe(1);
  expect(text()).toMatch(/connection: close/i);
  expect(performance.now() - startedAt).toBeLessThan(4_500);
});

/** Serves requests by draining their bodies; the path names the owner. */
async function startDraining(rates: { perOwner: number; total: number }) {
  const bodies = createUnreadBodies(rates);
  const server = createServer({ highWaterMark: 16 * 1024 }, (request: IncomingMessage, response) => {
    void bodies.drain(request, request.url ?? '').then((isWhole) => response.end(String(isWhole)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async (owner: string, bytes: number) => {
    const startedAt = performance.now();
    const response = await fetch(`${url}/${owner}`, { method: 'POST', body: Buffer.alloc(bytes) });
    return { isWhole: await response.text(), milliseconds: performance.now() - startedAt };
  };
}

// contract.md A57
test('unread bodies of one owner share its rate, and those of another do not wait for them', async () => {
  const send = await startDraining({ perOwner: 2 * MIB, total: 32 * MIB });
  const many = Promise.all(Array.from({ length: 4 }, () => send('many', MIB)));
  const one = await send('one', MIB);
  expect(one.isWhole).toBe('true');
  const times = (await many).map(({ isWhole, milliseconds }) => {
    expect(isWhole).toBe('true');
    return milliseconds;
  });
  // 4 MiB at 2 MiB a second; the other's MiB takes a quarter of that.
  expect(Math.max(...times)).toBeGreaterThan(1_500);
  expect(one.milliseconds).toBeLessThan(Math.max(...times));
});

// contract.md A57
test('a body that would take longer than five seconds is left', async () => {
  const send = await startDraining({ perOwner: 64 * 1024, total: 32 * MIB });
  const { isWhole, milliseconds } = await send('slow', 4 * MIB);
  expect(isWhole).toBe('false');
  expect(milliseconds).toBeGreaterThan(4_000);
});
