import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOpenAiCompatibleProvider } from '../../src/providers/openai-compatible.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { translateSegments } from '../../src/providers/translate.ts';
import {
  ProviderError,
  type ProviderErrorKind,
  type TranslationProvider,
  type TranslationText,
} from '../../src/providers/types.ts';
import {
  askedTexts,
  chatRequest,
  completion,
  pseudoCompletion,
  schemaProperties,
} from '../support/chat-completions.ts';
import {
  breakOff,
  drip,
  type EngineResponse,
  type EngineServer,
  silence,
  startEngineServer,
} from '../support/engine-server.ts';

const KEY = 'sk-very-secret-key-1234567890';
const segments: TranslationText[] = [
  { id: 'title', kind: 'title', text: 'A garden' },
  { id: 'block.0.text', kind: 'paragraph', text: 'Read <a id="1">the guide</a> &amp; use <x id="2"/>.' },
  {
    id: 'block.1.text',
    kind: 'paragraph',
    text: 'Water the plants in the morning, never at noon, and keep them warm.',
  },
];
const expected = new Map(segments.map(({ id, text }) => [id, pseudoLocalize(text)]));
/** What the model calls the texts. */
const names = ['title', 'paragraph.2', 'paragraph.3'];
const named = (texts: Iterable<string>) =>
  Object.fromEntries([...texts].map((text, place) => [names[place] ?? '', text]));

let server: EngineServer;
let provider: TranslationProvider;
beforeEach(async () => {
  server = await startEngineServer(pseudoCompletion);
  provider = createOpenAiCompatibleProvider({
    baseUrl: `${server.url}/v1`,
    model: 'stand-in-1',
    apiKey: KEY,
    timeoutMs: 400,
  });
});
afterEach(() => server.close());

const run = (signal = new AbortController().signal) =>
  translateSegments(provider, { sourceLanguage: 'en', targetLanguage: 'pt-BR', segments, signal });
const failure = async (promise: Promise<unknown>): Promise<ProviderError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ProviderError);
  expect(String(error)).not.toContain(KEY);
  return error as ProviderError;
};
const problem = (status: number, error: unknown, headers: Record<string, string> = {}): EngineResponse => ({
  status,
  headers,
  body: { error },
});

describe('a question to the model', () => {
  it('carries the key, the languages and a strict schema that requires every text', async () => {
    expect(await run()).toEqual(expected);
    const [request] = server.requests;
    if (request === undefined) throw new Error('nothing asked');
    expect(request).toMatchObject({ method: 'POST', path: '/v1/chat/completions' });
    expect(request.headers.authorization).toBe(`Bearer ${KEY}`);
    const body = chatRequest(request);
    expect(body.model).toBe('stand-in-1');
    expect(body.messages[0]?.content).toContain('English (en) to Brazilian Portuguese (pt-BR)');
    expect(body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: {
        strict: true,
        schema: { type: 'object', required: names, additionalProperties: false },
      },
    });
    expect(Object.keys(schemaProperties(request))).toEqual(names);
    expect(server.requests).toHaveLength(1);
  });

  // contract.md G39
  it('names a language without what a customer appended to its tag', async () => {
    await translateSegments(provider, {
      sourceLanguage: 'en-u-ca-buddhist',
      targetLanguage: 'pt-BR-ignore1-x-rules',
      segments,
      signal: new AbortController().signal,
    });
    const [request] = server.requests;
    if (request === undefined) throw new Error('nothing asked');
    const instructions = chatRequest(request).messages[0]?.content;
    expect(instructions).toContain('from English (en) to Brazilian Portuguese (pt-BR).');
    expect(instructions).not.toMatch(/ignore1|rules/);
  });

  it('goes without a key to servers that want none', async () => {
    const keyless = createOpenAiCompatibleProvider({
      baseUrl: server.url,
      model: 'm',
      timeoutMs: 400,
    });
    await keyless.translate({
      sourceLanguage: 'en',
      targetLanguage: 'es',
      segments,
      signal: new AbortController().signal,
    });
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('is repeated with the exact defects, for the unusable texts only', async () => {
    server.answer = (request) =>
      server.requests.length === 1
        ? completion(JSON.stringify(named(['Um jardim', 'Leia o guia', ''])))
        : pseudoCompletion(request);
    const answers = await run();
    expect(answers.get('title')).toBe('Um jardim');
    const [, second] = server.requests;
    if (second === undefined) throw new Error('asked once only');
    expect(Object.values(askedTexts(second))).toEqual([segments[1]?.text, segments[2]?.text]);
    const turns = chatRequest(second).messages;
    expect(turns.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(JSON.parse(turns[2]?.content ?? '')).toEqual({
      'paragraph.1': 'Leia o guia',
      'paragraph.2': '',
    });
    expect(JSON.parse(turns[3]?.content ?? '')).toEqual({
      defects: {
        'paragraph.1': ['the tag <a id="1"> is missing', 'the tag <x id="2"/> is missing'],
        'paragraph.2': ['the translation is empty'],
      },
    });
    expect(server.requests).toHaveLength(2);
  });
});

describe('an answer that is not as asked for', () => {
  const first = (content: string) => {
    server.answer = (request) =>
      server.requests.length === 1 ? completion(content) : pseudoCompletion(request);
  };
  const right = named(expected.values());
  const good = JSON.stringify(right);

  it.each([
    ['in a code fence', `\`\`\`json\n${good}\n\`\`\``],
    ['with words around it', `Sure! Here is the translation:\n${good}\nAnything else?`],
    ['with invented ids', JSON.stringify({ ...right, extra: 'x', __proto__: 'y' })],
  ])('is used when it is whole: %s', async (_what, content) => {
    first(content);
    expect(await run()).toEqual(expected);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['wrong ids', '{"one":"Um","two":"Dois"}', 3],
    ['texts that are no strings', '{"title":["Um"],"paragraph.2":null,"paragraph.3":3}', 3],
    ['an array', '["Um"]', 3],
    ['no JSON', 'I am sorry, I am only a model.', 3],
    ['nothing', '', 3],
    ['half an object', good.slice(0, 60), 3],
    ['a dropped tag', good.replace('<a id=\\"1\\">', '').replace('</a>', ''), 1],
    ['a doubled tag', good.replace('<x id=\\"2\\"/>', '<x id=\\"2\\"/><x id=\\"2\\"/>'), 1],
    ['an empty string', JSON.stringify({ ...right, title: '' }), 1],
    ['the source', JSON.stringify(named(segments.map(({ text }) => text))), 1],
  ])('is asked for again: %s', async (_what, content, again) => {
    first(content);
    const answers = await run();
    expect(answers.size).toBe(3);
    for (const [id, text] of answers)
      expect([expected.get(id), segments.find((s) => s.id === id)?.text]).toContain(text);
    const [, second] = server.requests;
    expect(second && Object.keys(askedTexts(second))).toHaveLength(again);
    expect(server.requests).toHaveLength(2);
  });

  it('is never trusted when it was cut off, even where it parses: the texts are asked for in halves', async () => {
    server.answer = (request) =>
      Object.keys(askedTexts(request)).length > 1
        ? completion(good, { finishReason: 'length' })
        : pseudoCompletion(request);
    expect(await run()).toEqual(expected);
    expect(server.requests.map((request) => Object.keys(askedTexts(request)).length)).toEqual([
      3, 2, 1, 1, 1,
    ]);
  });

  it('ends the job when a single text is longer than the model can answer', async () => {
    server.answer = () => completion('{"title":"', { finishReason: 'length' });
    expect(await failure(run())).toMatchObject({
      kind: 'unusable',
      message: expect.stringContaining('Shorten the longest paragraph'),
    });
  });
});

describe('failures of the model', () => {
  it.each([
    ['the finish reason', completion('', { finishReason: 'content_filter' })],
    ['a refusal', completion(null, { refusal: "I can't help with that." })],
    ['an error', problem(400, { message: 'The content was filtered', code: 'content_filter' })],
  ])('refused content is told apart: %s', async (_what, answer) => {
    server.answer = () => answer;
    const { signal } = new AbortController();
    const { kind, message } = await failure(
      provider.translate({ sourceLanguage: 'en', targetLanguage: 'pt-BR', segments, signal }),
    );
    expect([kind, message]).toEqual(['refused', 'The language model declines to work on this text.']);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['429 with seconds', 429, { 'retry-after': '7' }, 7_000],
    ['429 with milliseconds', 429, { 'retry-after-ms': '1500' }, 1_500],
    ['503 with a date', 503, { 'retry-after': 'in 90 seconds' }, 90_000],
    ['500', 500, {}, undefined],
    ['529', 529, {}, undefined],
  ])('may pass, and Retry-After is told: %s', async (_what, status, headers, wait) => {
    server.answer = () => {
      const later = new Date(Date.now() + 90_000).toUTCString();
      const said = Object.entries(headers).map(([name, value]) => [
        name,
        value.replace('in 90 seconds', later),
      ]);
      const error = { message: `Slow down, ${KEY}`, code: 'rate_limit' };
      return problem(status, error, Object.fromEntries(said));
    };
    const error = await failure(run());
    expect(error.kind).toBe('retryable');
    if (wait === undefined) expect(error.retryAfterMs).toBeUndefined();
    else expect(Math.abs((error.retryAfterMs ?? 0) - wait)).toBeLessThan(2_000);
    expect(server.requests).toHaveLength(1);
  });

  it.each<[string, ProviderErrorKind, number, unknown, string, Record<string, string>?]>([
    [
      'a wrong key',
      'misconfigured',
      401,
      { message: `Incorrect API key: ${KEY}`, code: 'invalid_api_key' },
      'Check AI_API_KEY',
    ],
    [
      'an unknown model',
      'misconfigured',
      404,
      { message: 'no such model', code: 'model_not_found' },
      'AI_BASE_URL and AI_MODEL',
    ],
    ['no credit left', 'misconfigured', 429, { message: 'pay', code: 'insufficient_quota' }, 'is used up'],
    [
      'a bad request',
      'fatal',
      400,
      { message: 'bad', type: 'invalid_request_error' },
      'invalid_request_error',
    ],
    [
      'a wait of a day',
      'unavailable',
      429,
      { message: 'later' },
      'a retry in 1440 minutes',
      { 'retry-after': '86400' },
    ],
  ])(
    'will not pass by itself, with a message to act on: %s',
    async (...[, kind, status, error, words, headers]) => {
      server.answer = () => problem(status, error, headers ?? {});
      const thrown = await failure(run());
      expect(thrown.kind).toBe(kind);
      expect(thrown.message).toContain(words);
    },
  );

  it.each([
    ['never answers', silence, 'did not respond within 0.4 s'],
    ['drips', drip, 'did not respond within 0.4 s'],
    ['breaks off', breakOff, 'not a chat completion'],
    ['is a web page', { body: '<html>', headers: { 'content-type': 'text/html' } }, 'not a chat completion'],
  ])('may pass when the server %s', async (_what, answer, words) => {
    server.answer = () => answer;
    const error = await failure(run());
    expect([error.kind, error.message]).toEqual(['retryable', expect.stringContaining(words)]);
  });

  it('may pass when nobody listens', async () => {
    await server.close();
    expect(await failure(run())).toMatchObject({
      kind: 'retryable',
      message: expect.stringContaining('could not be reached'),
    });
  });

  it('gives the call up when it is aborted, with the reason', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    server.answer = () => {
      setTimeout(() => controller.abort(reason), 20);
      return silence;
    };
    const result = run(controller.signal);
    await expect(result).rejects.toBe(reason);
    await expect.poll(() => server.abandoned()).toBe(1);
  });
});
