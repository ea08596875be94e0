import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApertiumProvider } from '../../src/providers/apertium.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { translateSegments } from '../../src/providers/translate.ts';
import { ProviderError, type TranslationProvider, type TranslationText } from '../../src/providers/types.ts';
import {
  breakOff,
  type EngineRequest,
  type EngineResponse,
  type EngineServer,
  silence,
  startEngineServer,
} from '../support/engine-server.ts';

const segments: TranslationText[] = [
  { id: 'title', kind: 'title', text: 'A garden' },
  { id: 'p', kind: 'paragraph', text: 'Read <a id="1">the guide</a> &amp; use <x id="2"/>.' },
];

let server: EngineServer;
let provider: TranslationProvider;

/** APY's answers, as its version 0.11 gives them. */
function apy(translate: (text: string) => EngineResponse): (request: EngineRequest) => EngineResponse {
  return (request) => {
    if (request.path === '/listPairs') {
      const pairs = [
        { sourceLanguage: 'eng', targetLanguage: 'spa' },
        { sourceLanguage: 'spa', targetLanguage: 'eng_US' },
        { sourceLanguage: 'spa', targetLanguage: 'eng' },
        { sourceLanguage: 'nob', targetLanguage: 'nno' },
      ];
      return { body: { responseData: pairs, responseDetails: null, responseStatus: 200 } };
    }
    return translate(new URLSearchParams(request.body).get('q') ?? '');
  };
}
const translated = (text: string): EngineResponse => ({
  body: { responseData: { translatedText: text }, responseDetails: null, responseStatus: 200 },
});
const pseudo = apy((text) => translated(pseudoLocalize(text)));

beforeEach(async () => {
  server = await startEngineServer(pseudo);
  provider = createApertiumProvider({ url: server.url, timeoutMs: 400 });
});
afterEach(() => server.close());

const run = (sourceLanguage = 'en', targetLanguage = 'es', signal = new AbortController().signal) =>
  translateSegments(provider, { sourceLanguage, targetLanguage, segments, signal });
const failure = async (promise: Promise<unknown>): Promise<ProviderError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ProviderError);
  return error as ProviderError;
};
const asked = () =>
  server.requests
    .filter(({ path }) => path === '/translate')
    .map(({ body }) => Object.fromEntries(new URLSearchParams(body)));

describe('a request to Apertium', () => {
  it('carries one text as HTML, the pair in its own codes, and hides the marks of unknown words', async () => {
    expect(await run()).toEqual(new Map(segments.map(({ id, text }) => [id, pseudoLocalize(text)])));
    expect(asked()).toEqual(
      segments.map(({ text }) => ({ langpair: 'eng|spa', format: 'html', markUnknown: 'no', q: text })),
    );
    await run();
    expect(server.requests.filter(({ path }) => path === '/listPairs')).toHaveLength(1);
  });

  it.each([
    ['es', 'en-US', 'spa|eng_US'],
    ['es-MX', 'en-GB', 'spa|eng'],
    ['no', 'nn', 'nob|nno'],
  ])('maps %s and %s to an installed pair', async (source, target, pair) => {
    await run(source, target);
    expect(asked()[0]?.langpair).toBe(pair);
  });

  it('names the installed pairs when none fits, which no retry changes', async () => {
    const error = await failure(run('en', 'ja'));
    expect([error.kind, error.message]).toEqual([
      'fatal',
      'Apertium does not translate from en to ja. Installed pairs: eng → spa, nob → nno, spa → eng, spa → eng_US.',
    ]);
  });

  it('asks for the stretches between the tags when the engine damages them', async () => {
    server.answer = apy((text) => translated(pseudoLocalize(text).replace(/<[^>]*>/, '')));
    expect((await run()).get('p')).toBe('⟦Ŕéåð⟧ <a id="1">⟦ţĥé ĝûîðé⟧</a> ⟦&amp; ûšé⟧ <x id="2"/>.');
  });
});

describe('failures of Apertium', () => {
  it.each<[string, EngineResponse, string, string]>([
    [
      'a full server',
      { status: 503, headers: { 'retry-after': '2' }, body: {} },
      'retryable',
      'is unavailable',
    ],
    [
      'a pair that was removed',
      { status: 400, body: { status: 'error', code: 400 } },
      'fatal',
      'did not accept',
    ],
    ['a server of another kind', { status: 404, body: 'no' }, 'misconfigured', 'Check APERTIUM_URL'],
    ['nonsense', { body: '<html>' }, 'retryable', 'unexpected response'],
    ['an answer without a text', { body: { responseData: {} } }, 'retryable', 'unexpected response'],
    ['silence', silence, 'retryable', 'did not respond within 0.4 s'],
    ['half an answer', breakOff, 'retryable', 'could not be reached'],
  ])('are told apart: %s', async (_what, answer, kind, words) => {
    server.answer = apy(() => answer);
    const error = await failure(run());
    expect([error.kind, error.message]).toEqual([kind, expect.stringContaining(words)]);
  });

  it('are none when the call is aborted: it is given up, with the reason', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    server.answer = apy(() => {
      setTimeout(() => controller.abort(reason), 20);
      return silence;
    });
    const result = run('en', 'es', controller.signal);
    await expect(result).rejects.toBe(reason);
    await expect.poll(() => server.abandoned()).toBe(1);
  });
});
