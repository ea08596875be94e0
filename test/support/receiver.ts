import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly at: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: Buffer;
  readonly body: { event: string; data: Record<string, unknown> };
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Decides the next answers; 204 by default. */
  answer: (request: Received) => number | Promise<number>;
  /** The text of every answer that may have one; empty by default. */
  words: string;
  close(): Promise<void>;
}

/** A real HTTP receiver on loopback that keeps what it got. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const receiver = {
    received,
    answer: (): number | Promise<number> => 204,
    words: '',
  } as unknown as Receiver;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const raw = Buffer.concat(chunks);
      const entry: Received = {
        at: Date.now(),
        headers: request.headers as Record<string, string>,
        raw,
        body: JSON.parse(raw.toString()),
      };
      received.push(entry);
      response.writeHead(await receiver.answer(entry));
      response.end(receiver.words);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
