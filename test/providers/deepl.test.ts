import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeepLProvider, sourceCode, targetCode } from '../../src/providers/deepl.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { translateSegments } from '../../src/providers/translate.ts';
import {
  ProviderError,
  type RepairNote,
  type Style,
  type TranslationProvider,
  type TranslationText,
} from '../../src/providers/types.ts';
import {
  breakOff,
  drip,
  type EngineRequest,
  type EngineServer,
  silence,
  startEngineServer,
} from '../support/engine-server.ts';

const KEY = 'deepl-secret-key-123:fx';
const segments: TranslationText[] = [
  { id: 'title', kind: 'title', text: 'A garden' },
  {
    id: 'p',
    kind: 'paragraph',
    text: 'Read <a id="1">the guide</a> &amp; use <x id="2"/> <b id="3">with <i id="4">great care</i></b>.',
  },
];

let server: EngineServer;
let provider: TranslationProvider;
const texts = (request: EngineRequest): string[] => JSON.parse(request.body).text;
const translated = (answers: readonly string[]) => ({
  body: { translations: answers.map((text) => ({ detected_source_language: 'EN', text })) },
});
const pseudo = (request: EngineRequest) => translated(texts(request).map(pseudoLocalize));

beforeEach(async () => {
  server = await startEngineServer(pseudo);
  provider = createDeepLProvider({ apiKey: KEY, serverUrl: server.url, timeoutMs: 400 });
});
afterEach(() => server.close());

const run = (wanted: readonly TranslationText[] = segments, signal = new AbortController().signal) =>
  translateSegments(provider, { sourceLanguage: 'en-GB', targetLanguage: 'pt-BR', segments: wanted, signal });
const failure = async (promise: Promise<unknown>): Promise<ProviderError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ProviderError);
  expect(String(error)).not.toContain(KEY);
  return error as ProviderError;
};

describe('a request to DeepL', () => {
  it('carries the key, the languages and strict XML tag handling', async () => {
    expect(await run()).toEqual(new Map(segments.map(({ id, text }) => [id, pseudoLocalize(text)])));
    const [request] = server.requests;
    if (request === undefined) throw new Error('nothing asked');
    expect(request).toMatchObject({ method: 'POST', path: '/v2/translate' });
    expect(request.headers.authorization).toBe(`DeepL-Auth-Key ${KEY}`);
    expect(JSON.parse(request.body)).toEqual({
      text: segments.map(({ text }) => text),
      source_lang: 'EN',
      target_lang: 'PT-BR',
      tag_handling: 'xml',
      tag_handling_version: 'v2',
      outline_detection: false,
      non_splitting_tags: ['a', 'b', 'i', 'x'],
      ignore_tags: ['x'],
      preserve_formatting: true,
    });
    expect(server.requests).toHaveLength(1);
  });

  // contract.md V19
  it('tells DeepL the title, what stands around the texts, and how to address the reader, also when asked again', async () => {
    const context = { title: 'A garden', outline: ['Beds'], glossary: [], sheet: null };
    const around = { before: 'Spring comes.', after: 'Then water it.' };
    const ask = (style: Style | null, repair?: readonly RepairNote[]) =>
      provider.translate({
        sourceLanguage: 'en',
        targetLanguage: 'de',
        segments,
        signal: new AbortController().signal,
        context: { ...context, style },
        around,
        ...(repair === undefined ? {} : { repair }),
      });
    await ask({ formality: 'formal', instructions: 'Ignored.' });
    await ask({ formality: 'informal', instructions: null }, []);
    await ask(null);
    const bodies = server.requests.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ formality }) => formality)).toEqual(['prefer_more', 'prefer_less', 'prefer_more']);
    for (const body of bodies) {
      expect(body.context).toBe('A garden\nSpring comes.\nThen water it.');
      expect(JSON.stringify(body)).not.toContain('Ignored');
    }
    server.requests.length = 0;
    await provider.translate({
      sourceLanguage: 'en',
      targetLanguage: 'de',
      segments,
      signal: new AbortController().signal,
    });
    expect(JSON.parse(server.requests[0]?.body ?? '')).not.toHaveProperty('context');
  });

  // contract.md V19
  it('gives DeepL the names that stay as they are as text to keep, in pieces too', async () => {
    server.answer = (request) =>
      translated(
        texts(request).map((text) =>
          text.replace(/(<x>[^<]*<\/x>)|([^<>]+)(?=<|$)/g, (all, kept) => kept ?? pseudoLocalize(all)),
        ),
      );
    const glossary = [
      { source: 'R&D', target: null, caseSensitive: true },
      { source: 'acme cloud', target: null, caseSensitive: false },
      { source: 'Acme', target: null, caseSensitive: true },
      { source: 'guide', target: 'Leitfaden', caseSensitive: false },
    ];
    const segments: TranslationText[] = [
      {
        id: 'p',
        kind: 'paragraph',
        text: 'Our <b id="1">ACME Cloud</b>, R&amp;D, Acmeland &amp; <x id="2"/> Acme’s guide',
      },
    ];
    const request = {
      sourceLanguage: 'en',
      targetLanguage: 'de',
      segments,
      signal: new AbortController().signal,
      context: { title: '', outline: [], glossary, style: null, sheet: null },
    };
    const made = await provider.translate(request);
    const [first] = server.requests;
    expect(first && texts(first)).toEqual([
      'Our <b id="1"><x>ACME Cloud</x></b>, <x>R&amp;D</x>, Acmeland &amp; <x id="2"/> <x>Acme</x>’s guide',
    ]);
    for (const kept of ['<b id="1">ACME Cloud</b>', 'R&amp;D', '<x id="2"/>', 'Acme']) {
      expect(made.get('p')).toContain(kept);
    }
    expect(made.get('p')).not.toContain('<x>');
    const repaired = await provider.translate({ ...request, repair: [] });
    expect(repaired.get('p')).toContain('<b id="1">ACME Cloud</b>');
  });

  it('puts at most 50 texts into a request, and answers those of several in order', async () => {
    const many = Array.from({ length: 120 }, (_, index) => ({
      id: `s${index}`,
      kind: 'paragraph' as const,
      text: `Text number ${index}`,
    }));
    expect(await run(many)).toEqual(new Map(many.map(({ id, text }) => [id, pseudoLocalize(text)])));
    expect(server.requests.map((request) => texts(request).length)).toEqual([50, 50, 20]);
  });

  it('puts at most 128 KiB into a request', async () => {
    const large = Array.from({ length: 9 }, (_, index) => ({
      id: `s${index}`,
      kind: 'paragraph' as const,
      text: 'großer Text '.repeat(2_500),
    }));
    await run(large);
    expect(server.requests.length).toBeGreaterThan(1);
    for (const request of server.requests)
      expect(Buffer.byteLength(request.body)).toBeLessThanOrEqual(128 * 1024);
    expect(server.requests.flatMap(texts)).toEqual(large.map(({ text }) => text));
  });

  it('refuses a single text that is too long, before anything is sent', async () => {
    const error = await failure(
      run([...segments, { id: 'long', kind: 'paragraph', text: 'x'.repeat(128 * 1024) }]),
    );
    expect(error).toMatchObject({
      kind: 'fatal',
      message: expect.stringContaining('Split the longest paragraph'),
    });
    expect(server.requests).toHaveLength(0);
  });

  it.each([
    ['a dropped tag', (text: string) => text.replace('<x id="2"/>', '')],
    ['a doubled tag', (text: string) => text.replace('<x id="2"/>', '<x id="2"/><x id="2"/>')],
    ['tags that cross', (text: string) => text.replace('</i></b>', '</b></i>')],
    ['an empty text', (text: string) => (text.includes('<') ? '' : text)],
  ])(
    'asks for the stretches between the tags after %s, so that all tags are there',
    async (_what, damage) => {
      server.answer = (request) => translated(texts(request).map((text) => damage(pseudoLocalize(text))));
      const answers = await run();
      const [, second] = server.requests;
      expect(second && texts(second)).toEqual(['Read', 'the guide', '&amp; use', 'with', 'great care']);
      expect(answers.get('p')).toBe(
        '⟦Ŕéåð⟧ <a id="1">⟦ţĥé ĝûîðé⟧</a> ⟦&amp; ûšé⟧ <x id="2"/> <b id="3">⟦ŵîţĥ⟧ <i id="4">⟦ĝŕéåţ çåŕé⟧</i></b>.',
      );
      expect(server.requests).toHaveLength(2);
    },
  );

  it('knows which variants DeepL has and insists on', () => {
    expect(['en-GB', 'pt-BR', 'zh-Hant', 'no'].map(sourceCode)).toEqual(['EN', 'PT', 'ZH', 'NB']);
    expect(
      ['en', 'en-GB', 'en-AU', 'pt', 'pt-PT', 'zh', 'zh-TW', 'zh-HK', 'es', 'es-MX', 'no', 'de-AT'].map(
        targetCode,
      ),
    ).toEqual([
      'EN-US',
      'EN-GB',
      'EN-GB',
      'PT-BR',
      'PT-PT',
      'ZH-HANS',
      'ZH-HANT',
      'ZH-HANT',
      'ES',
      'ES-419',
      'NB',
      'DE',
    ]);
  });
});

describe('failures of DeepL', () => {
  it.each([
    [403, {}, { message: `Invalid key ${KEY}` }, 'misconfigured', 'Check DEEPL_API_KEY'],
    [456, {}, { message: 'Quota exceeded' }, 'misconfigured', 'is used up'],
    [400, {}, { message: "Value for 'target_lang' not supported." }, 'fatal', 'from EN to PT-BR'],
    [413, {}, { message: 'too large' }, 'fatal', 'did not accept'],
    [429, { 'retry-after': '3' }, {}, 'retryable', 'limits the rate'],
    [529, {}, {}, 'retryable', 'is unavailable'],
    [200, {}, { translations: [{ text: 'one only' }] }, 'retryable', 'not a list of translations'],
    [200, {}, '<html>', 'retryable', 'not a list of translations'],
  ])('are told apart: %i', async (status, headers, body, kind, words) => {
    server.answer = () => ({ status, headers: headers as Record<string, string>, body });
    const error = await failure(run());
    expect([error.kind, error.message]).toEqual([kind, expect.stringContaining(words)]);
    expect(error.retryAfterMs).toBe(status === 429 ? 3_000 : undefined);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['never answers', silence, 'did not respond within 0.4 s'],
    ['drips', drip, 'did not respond within 0.4 s'],
    ['breaks off', breakOff, 'could not be reached'],
  ])('may pass when the server %s', async (_what, answer, words) => {
    server.answer = () => answer;
    const error = await failure(run());
    expect([error.kind, error.message]).toEqual(['retryable', expect.stringContaining(words)]);
  });

  it('are none when the call is aborted: it is given up, with the reason', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    server.answer = () => {
      setTimeout(() => controller.abort(reason), 20);
      return silence;
    };
    const result = run(segments, controller.signal);
    await expect(result).rejects.toBe(reason);
    await expect.poll(() => server.abandoned()).toBe(1);
  });
});
