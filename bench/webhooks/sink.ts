/** Trivial receivers in a process of their own: they note when each request came, and respond 204, after a delay if set. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SinkCount, SinkQuestion, SinkReport } from './receiving.ts';

const [receivers, delayMs = 0] = process.argv.slice(2).map(Number);
let received: { at: number; body: Buffer }[] = [];

function receive(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    received.push({ at: Date.now(), body: Buffer.concat(chunks) });
    if (delayMs === 0) response.writeHead(204).end();
    else setTimeout(() => response.writeHead(204).end(), delayMs);
  });
}

const count = (): SinkCount => ({ count: received.length, lastAt: received.at(-1)?.at ?? 0 });
const report = (): SinkReport =>
  received.map(({ at, body }) => ({ at, articleId: JSON.parse(body.toString()).data.articleId }));

process.on('message', (question: SinkQuestion) => {
  process.send?.(question === 'report' ? report() : count());
  if (question === 'clear') received = [];
});
process.on('disconnect', () => process.exit(0));

const servers = Array.from({ length: receivers ?? 0 }, () => createServer(receive));
for (const server of servers) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}
process.send?.(servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`));
