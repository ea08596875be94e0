import type { ServerResponse } from 'node:http';
import { type Received, startReceiver } from './receiver.ts';

export interface EngineRequest extends Pick<Received, 'method' | 'path' | 'headers'> {
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

/** A real HTTP server on loopback in the place of an engine or a model. */
export async function startEngineServer(answer: EngineServer['answer']): Promise<EngineServer> {
  const requests: EngineRequest[] = [];
  let abandoned = 0;
  const engine = { answer };
  const server = await startReceiver(async ({ method, path, headers, raw }, response) => {
    response.on('close', () => {
      if (!response.writableFinished) abandoned += 1;
    });
    const request = { method, path, headers, body: raw.toString() };
    requests.push(request);
    const result = await engine.answer(request);
    if (typeof result === 'function') return result(response);
    const { status = 200, headers: own = {}, body } = result;
    response.writeHead(status, { 'content-type': 'application/json', ...own });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  return Object.assign(engine, {
    url: server.origin,
    requests,
    abandoned: () => abandoned,
    close: server.close,
  });
}
