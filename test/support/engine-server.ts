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

/** Sends the head of an event stream. */
export const beginStream = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
};

/** Sends what a chunk of a streamed chat completion has, as one event. */
export const sendChunk = (response: ServerResponse, chunk: Record<string, unknown>): void => {
  const event = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'stand-in',
  };
  response.write(`data: ${JSON.stringify({ ...event, choices: [], ...chunk })}\n\n`);
};

/** Sends tokens, of the text or of another field. */
export const sendTokens = (response: ServerResponse, delta: Record<string, string>): void =>
  sendChunk(response, { choices: [{ index: 0, delta }] });

/** Ends an event stream in order, with the usage. */
export function endStream(
  response: ServerResponse,
  { finishReason = 'stop', usage = {} as object | null } = {},
): void {
  sendChunk(response, { choices: [{ index: 0, delta: {}, finish_reason: finishReason }] });
  if (usage !== null) sendChunk(response, { usage });
  response.end('data: [DONE]\n\n');
}

interface Completion {
  readonly choices: readonly {
    readonly message: { readonly content: string | null; readonly refusal?: string };
    readonly finish_reason: string;
  }[];
  readonly usage: object;
}

const isCompletion = (body: unknown): body is Completion =>
  (body as { object?: unknown } | null)?.object === 'chat.completion';

/** The same chat completion as a server streams it: the role, the text in pieces, the end, the usage. */
function streamCompletion(response: ServerResponse, { choices: [choice], usage }: Completion): void {
  beginStream(response);
  sendTokens(response, { role: 'assistant', content: '' });
  const { content, refusal } = choice?.message ?? {};
  for (const piece of content?.match(/[\s\S]{1,200}/g) ?? []) sendTokens(response, { content: piece });
  if (refusal !== undefined) sendTokens(response, { refusal });
  endStream(response, { finishReason: choice?.finish_reason, usage });
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
    if (isCompletion(body) && request.body.includes('"stream":true')) return streamCompletion(response, body);
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
