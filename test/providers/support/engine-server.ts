import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EngineRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** What the stand-in does with a request: an answer, or its hands on the raw response. */
export type EngineResponse =
  | { status?: number; headers?: Record<string, string>; body: unknown }
  | ((response: ServerResponse) => void);

export interface EngineServer {
  readonly url: string;
  readonly requests: EngineRequest[];
  /** Requests whose caller hung up before the answer. */
  readonly abandoned: () => number;
  answer: (request: EngineRequest) => EngineResponse | Promise<EngineResponse>;
  close(): Promise<void>;
}

/** Never answers. */
export const silence = (): void => undefined;

/** Sends a status and then one byte now and then, for ever. */
export function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
}

/** Breaks the connection in the middle of the answer. */
export function breakOff(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"');
  setTimeout(() => response.destroy(), 20);
}

/** A real HTTP server on loopback in the place of an engine. */
export async function startEngineServer(answer: EngineServer['answer']): Promise<EngineServer> {
  const requests: EngineRequest[] = [];
  let abandoned = 0;
  const engine = { answer };
  const server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) abandoned += 1;
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const entry = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      requests.push(entry);
      const result = await engine.answer(entry);
      if (typeof result === 'function') return result(response);
      const { status = 200, headers = {}, body } = result;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(engine, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    abandoned: () => abandoned,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
