import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatModel } from '../../src/providers/chat-model.ts';
import { createStreamedModel } from '../../src/providers/streamed-model.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { completion } from '../support/chat-completions.ts';
import {
  beginStream,
  breakOff,
  type EngineResponse,
  type EngineServer,
  endStream,
  sendChunk,
  sendTokens,
  silence,
  startEngineServer,
} from '../support/engine-server.ts';
import { eventually } from '../support/wait.ts';

const KEY = 'sk-very-secret-key-1234567890';
const LIMITS = { firstTokenMs: 800, silenceMs: 600, totalMs: 3_000 };
const TEXT = '{"text":"Roses."}';

let server: EngineServer;
let model: ChatModel;
beforeEach(async () => {
  server = await startEngineServer(() => completion(TEXT));
  model = modelAt(server.url);
});
afterEach(() => server.close());

const modelAt = (url: string): ChatModel =>
  createStreamedModel({ baseUrl: `${url}/v1`, model: 'stand-in-1', apiKey: KEY, limits: LIMITS });
const ask = (signal = new AbortController().signal, from = model) =>
  from.complete({
    instructions: 'Write.',
    messages: [{ role: 'user', text: '{}' }],
    schema: { type: 'object', properties: {}, required: [], additionalProperties: false },
    maxTokens: 1_234,
    signal,
  });
const failure = async (asked: Promise<unknown> = ask()): Promise<ProviderError> => {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ProviderError);
  expect(String(error)).not.toContain(KEY);
  return error as ProviderError;
};
/** Streams what the steps send: tokens of the text, thoughts, pauses in milliseconds. */
const streaming = (...steps: readonly (string | number | { thought: string })[]): EngineResponse => {
  const send = async (response: Parameters<typeof beginStream>[0]) => {
    beginStream(response);
    for (const step of steps) {
      if (typeof step === 'number') await sleep(step);
      else if (typeof step === 'string') sendTokens(response, { content: step });
      else sendTokens(response, { reasoning_content: step.thought });
    }
    endStream(response);
  };
  return (response) => void send(response);
};
const bodyOf = (at: number) => JSON.parse(server.requests[at]?.body ?? '{}');

describe('a streamed call', () => {
  it('has a limit of tokens, and returns the object with the usage that the model counted', async () => {
    server.answer = () => (response) => {
      beginStream(response);
      sendTokens(response, { content: TEXT.slice(0, 5) });
      sendTokens(response, { content: TEXT.slice(5) });
      const usage = {
        prompt_tokens: 70,
        completion_tokens: 40,
        prompt_tokens_details: { cached_tokens: 60 },
        completion_tokens_details: { reasoning_tokens: 25 },
      };
      endStream(response, { usage });
    };
    expect(await ask()).toEqual({
      object: { text: 'Roses.' },
      truncated: false,
      usage: { input: 70, cached: 60, output: 40, reasoning: 25 },
    });
    expect(bodyOf(0)).toMatchObject({
      model: 'stand-in-1',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 1_234,
    });
  });

  it.each([
    ['none', null],
    ['nonsense', { prompt_tokens: -5, completion_tokens: 1.5 }],
  ])('is used with %s for its usage', async (_what, usage) => {
    server.answer = () => (response) => {
      beginStream(response);
      sendTokens(response, { content: TEXT });
      endStream(response, { usage });
    };
    expect(await ask()).toMatchObject({ object: { text: 'Roses.' }, usage: { input: null, output: null } });
  });

  it('names its limit as the model wants it, from the first refusal on', async () => {
    server.answer = ({ body }) =>
      'max_tokens' in JSON.parse(body)
        ? {
            status: 400,
            body: {
              error: {
                message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
                param: 'max_tokens',
                code: 'unsupported_parameter',
              },
            },
          }
        : completion(TEXT);
    await ask();
    await ask();
    expect(server.requests).toHaveLength(3);
    expect(bodyOf(2)).toMatchObject({ max_completion_tokens: 1_234 });
  });

  it('that stopped at the limit of tokens is truncated, and so is one without end', async () => {
    server.answer = () => completion(TEXT, { finishReason: 'length' });
    expect((await ask()).truncated).toBe(true);
    server.answer = () => (response) => {
      beginStream(response);
      for (let sent = 0; sent < 11; sent += 1) sendTokens(response, { content: 'x'.repeat(100_000) });
    };
    expect(await ask()).toEqual({ object: null, truncated: true });
  });
});

// contract.md G77
describe('a model that thinks and one that stops are told apart:', () => {
  it('silence until just below the limit is waited for', async () => {
    server.answer = () => streaming(600, TEXT);
    expect((await ask()).object).toEqual({ text: 'Roses.' });
  });

  it('thoughts that are sent begin the time again, also beyond it', async () => {
    const thought = { thought: 'What are roses?' };
    server.answer = () => streaming(500, thought, 500, thought, 500, TEXT);
    expect((await ask()).object).toEqual({ text: 'Roses.' });
  });

  it.each<[string, () => EngineResponse, string]>([
    ['no head', () => silence, 'sent no text for 0.8 s'],
    ['no token', () => streaming(5_000), 'sent no text for 0.8 s'],
    ['thoughts that end', () => streaming({ thought: 'Roses?' }, 5_000), 'sent no text for 0.8 s'],
    [
      'only comments that keep the connection open',
      () => (response) => {
        beginStream(response);
        const timer = setInterval(() => response.write(': processing\n\n'), 50);
        response.on('close', () => clearInterval(timer));
      },
      'sent no text for 0.8 s',
    ],
    ['a text that stops', () => streaming(TEXT, 5_000), 'in the middle of its response for 0.6 s'],
    [
      'a text without end',
      () => streaming(...Array.from({ length: 100 }, () => ['x', 50]).flat()),
      'did not end its response within 3 s',
    ],
  ])('%s ends the call', async (_what, answer, message) => {
    server.answer = answer;
    expect(await failure()).toMatchObject({
      kind: 'retryable',
      unanswered: true,
      message: expect.stringContaining(message),
    });
    await eventually(
      async () => server.abandoned(),
      (count) => count === 1,
    );
  });

  it('its caller ends a call at once, with its own reason', async () => {
    server.answer = () => streaming(TEXT, 5_000);
    const caller = new AbortController();
    setTimeout(() => caller.abort(new Error('cancelled')), 100);
    await expect(ask(caller.signal)).rejects.toThrow('cancelled');
  });
});

// contract.md G78
describe('a call without a whole response', () => {
  it.each<[string, EngineResponse]>([
    ['that breaks off', breakOff],
    [
      'that breaks off in its text',
      (response) => {
        beginStream(response);
        sendTokens(response, { content: TEXT });
        setTimeout(() => response.destroy(), 50);
      },
    ],
    ['that is hung up on', (response) => void response.destroy()],
    [
      'without a reason for its end',
      (response) => {
        beginStream(response);
        response.end();
      },
    ],
    ['that is a page', { headers: { 'content-type': 'text/html' }, body: '<h1>Hello</h1>' }],
    [
      'with an error in its middle',
      (response) => {
        beginStream(response);
        sendTokens(response, { content: TEXT });
        sendChunk(response, { error: { message: `overloaded ${KEY}`, code: 'overloaded' } });
        response.end();
      },
    ],
  ])('is unanswered: one %s', async (_what, answer) => {
    server.answer = () => answer;
    expect(await failure()).toMatchObject({ kind: 'retryable', unanswered: true });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [401, 'misconfigured'],
    [402, 'misconfigured'],
    [403, 'misconfigured'],
    [404, 'misconfigured'],
    [408, 'retryable'],
    [429, 'retryable'],
    [456, 'misconfigured'],
    [500, 'retryable'],
    [503, 'retryable'],
  ])('was not taken when its status is %i', async (status, kind) => {
    server.answer = () => ({ status, body: { error: { message: `No, ${KEY}` } } });
    expect(await failure()).toMatchObject({ kind, unanswered: false });
  });

  it('was not taken when nobody listens', async () => {
    const gone = await startEngineServer(() => silence);
    await gone.close();
    expect(await failure(ask(undefined, modelAt(gone.url)))).toMatchObject({
      kind: 'retryable',
      unanswered: false,
      message: expect.stringContaining('could not be reached'),
    });
  });

  it.each<[string, EngineResponse]>([
    ['its end', completion('', { finishReason: 'content_filter' })],
    ['a refusal', completion(null, { refusal: "I can't help with that." })],
    [
      'an error in its middle',
      (response) => {
        beginStream(response);
        sendChunk(response, { error: { message: 'filtered', code: 'content_filter' } });
        response.end();
      },
    ],
  ])('is declined by %s', async (_what, answer) => {
    server.answer = () => answer;
    expect(await failure()).toMatchObject({ kind: 'refused', unanswered: false });
  });
});
