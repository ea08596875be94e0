import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConfigurationError, loadConfig, searchProviderOf } from '../../src/config.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { createResearch } from '../../src/research/create.ts';
import type { SearchEngine } from '../../src/research/search/engine.ts';
import { type ServedPages, servePages } from '../../src/research/search/pages.ts';
import { createPseudoSearch } from '../../src/research/search/pseudo.ts';
import { createSearxng } from '../../src/research/search/searxng.ts';
import { searchInTurns } from '../../src/research/search/turns.ts';
import { breakOff, drip, type EngineServer, silence, startEngineServer } from '../support/engine-server.ts';
import { eventually } from '../support/wait.ts';

const signal = new AbortController().signal;
const failure = async (promise: Promise<unknown>): Promise<ProviderError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ProviderError);
  return error as ProviderError;
};

// contract.md N1
describe('the configuration of research', () => {
  it('is off by default, and then needs nothing', async () => {
    expect(loadConfig({})).toMatchObject({
      WEB_RESEARCH: false,
      FACT_CHECKING: false,
      RESEARCH_ALLOWED_NETWORKS: [],
    });
    expect(await createResearch(loadConfig({ SEARCH_PROVIDER: 'searxng' }))).toBeNull();
  });

  it('searches with pseudo only where pseudo writes, unless it says so', () => {
    const model = {
      GENERATION_PROVIDER: 'openai-compatible',
      AI_BASE_URL: 'http://127.0.0.1:1/v1',
      AI_MODEL: 'm',
    };
    expect(searchProviderOf(loadConfig({}))).toBe('pseudo');
    expect(searchProviderOf(loadConfig(model))).toBe('searxng');
    expect(searchProviderOf(loadConfig({ ...model, SEARCH_PROVIDER: 'pseudo' }))).toBe('pseudo');
    expect(searchProviderOf(loadConfig({ SEARCH_PROVIDER: 'searxng' }))).toBe('searxng');
  });

  it.each(['WEB_RESEARCH', 'FACT_CHECKING'])('with %s names what searxng lacks', (name) => {
    const env = { [name]: 'true', SEARCH_PROVIDER: 'searxng' };
    expect(() => loadConfig(env)).toThrow(ConfigurationError);
    expect(() => loadConfig(env)).toThrow('SEARCH_BASE_URL: needed by WEB_RESEARCH and FACT_CHECKING');
    expect(loadConfig({ ...env, SEARCH_BASE_URL: 'http://searxng:8080' })).toBeDefined();
  });

  it('refuses what is no flag, provider, address or network, without repeating it', () => {
    const bad = () =>
      loadConfig({
        WEB_RESEARCH: 'secret-yes',
        SEARCH_PROVIDER: 'secret',
        SEARCH_BASE_URL: 'ftp://secret',
      });
    for (const name of ['WEB_RESEARCH', 'SEARCH_PROVIDER', 'SEARCH_BASE_URL'])
      expect(bad).toThrow(`${name}: `);
    expect(bad).not.toThrow(/secret/);
    expect(() => loadConfig({ RESEARCH_ALLOWED_NETWORKS: '10.0.0.1' })).toThrow('RESEARCH_ALLOWED_NETWORKS');
  });
});

// contract.md N2
describe('a search by SearXNG', () => {
  let server: EngineServer;
  let engine: SearchEngine;
  beforeEach(async () => {
    server = await startEngineServer(() => ({ body: { results: [], unresponsive_engines: [] } }));
    engine = createSearxng({ baseUrl: `${server.url}/searx`, timeoutMs: 400 });
  });
  afterEach(() => server.close());
  const responds = (body: unknown, status = 200): void => {
    server.answer = () => ({ status, body });
  };

  it('asks for JSON below its address, and reads what the engine found', async () => {
    responds({
      query: 'q',
      results: [
        {
          url: 'https://garden.example/a?b=1',
          title: 'Water \n your\u0000 garden',
          content: 'In the  morning.',
          engines: ['x'],
          score: 2,
          publishedDate: '2026-05-12T08:00:00',
        },
        { url: 'https://garden.example/b', title: null, content: null, publishedDate: null },
        { url: 'magnet:?xt=1', title: 'No page' },
        { url: 'not an address', title: 'None' },
      ],
      unresponsive_engines: [['y', 'timeout']],
    });
    expect(await engine.search('how much  water?', signal)).toEqual([
      {
        url: 'https://garden.example/a?b=1',
        title: 'Water your garden',
        snippet: 'In the morning.',
        publishedAt: new Date('2026-05-12T08:00:00'),
      },
      { url: 'https://garden.example/b', title: '', snippet: '', publishedAt: null },
    ]);
    const [request] = server.requests;
    const url = new URL(request?.path ?? '', server.url);
    expect(url.pathname).toBe('/searx/search');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ q: 'how much water?', format: 'json' });
  });

  it('keeps the ten best, and texts within their bounds', async () => {
    const result = (at: number) => ({
      url: `https://a.example/${at}`,
      title: 'x'.repeat(5_000),
      content: 'y'.repeat(5_000),
    });
    responds({ results: Array.from({ length: 40 }, (_, at) => result(at)) });
    const results = await engine.search('q', signal);
    expect(results).toHaveLength(10);
    expect(results.map(({ title, snippet }) => [title.length, snippet.length])).toEqual(
      Array(10).fill([300, 500]),
    );
  });

  it('that finds nothing is no failure, but one whose engines are all away is', async () => {
    expect(await engine.search('q', signal)).toEqual([]);
    responds({
      results: [],
      unresponsive_engines: [
        ['google', 'too many requests'],
        ['duckduckgo', 'Suspended: CAPTCHA'],
      ],
    });
    expect(await failure(engine.search('q', signal))).toMatchObject({
      kind: 'retryable',
      message: 'None of the engines of the search server responded.',
    });
  });

  it('tells the operator that JSON is not enabled', async () => {
    responds('<h1>Forbidden</h1>', 403);
    expect(await failure(engine.search('q', signal))).toMatchObject({
      kind: 'misconfigured',
      message: expect.stringContaining('search.formats'),
    });
  });

  it.each([
    ['an error', () => responds('', 500), 'retryable'],
    ['429', () => responds('', 429), 'retryable'],
    ['no JSON', () => responds('<html>'), 'retryable'],
    ['another shape', () => responds({ results: 'none' }), 'retryable'],
    ['too much', () => responds({ results: [], more: 'x'.repeat(3_000_000) }), 'retryable'],
    [
      'another address',
      () => {
        server.answer = () => ({ status: 302, headers: { location: 'http://169.254.169.254/' }, body: '' });
      },
      'retryable',
    ],
    [
      'nothing',
      () => {
        server.answer = () => silence;
      },
      'retryable',
    ],
    [
      'a byte now and then',
      () => {
        server.answer = () => drip;
      },
      'retryable',
    ],
    [
      'half of it',
      () => {
        server.answer = () => breakOff;
      },
      'retryable',
    ],
    ['404', () => responds('', 404), 'misconfigured'],
  ])('fails in time when the server sends %s', async (_, arrange, kind) => {
    arrange();
    expect(await failure(engine.search('q', signal))).toMatchObject({ kind });
  });

  it('throws the reason of a caller who gives up', async () => {
    server.answer = () => silence;
    const aborted = new AbortController();
    setTimeout(() => aborted.abort(new Error('cancelled')), 30);
    await expect(engine.search('q', aborted.signal)).rejects.toThrow('cancelled');
  });
});

// contract.md N3
describe('searches of several workspaces', () => {
  const running: (() => void)[] = [];
  const engine: SearchEngine = {
    name: 'held',
    search: () => new Promise((resolve) => running.push(() => resolve([]))),
  };
  afterEach(() => {
    for (const end of running.splice(0)) end();
  });

  it('are not kept waiting by one that has many', async () => {
    const search = searchInTurns(engine, { perMinute: 60_000, atOnce: 4, waitMs: 5_000 });
    const many = Array.from({ length: 10 }, () => search('q', { workspaceId: 'many', signal }));
    await eventually(
      async () => running.length,
      (count) => count === 2,
    );
    const other = search('q', { workspaceId: 'other', signal });
    await eventually(
      async () => running.length,
      (count) => count === 3,
    );
    running[2]?.();
    await other;
    const timer = setInterval(() => {
      for (const end of running) end();
    }, 5);
    await Promise.all(many);
    clearInterval(timer);
  });

  it('come evenly, and one too many is refused at once', async () => {
    const at: number[] = [];
    const noting: SearchEngine = {
      name: 'noting',
      async search() {
        at.push(performance.now());
        return [];
      },
    };
    const search = searchInTurns(noting, { perMinute: 600, atOnce: 4, waitMs: 250 });
    const begun = performance.now();
    const asked = Array.from({ length: 5 }, () => search('q', { workspaceId: 'w', signal }));
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    // Timers may fire a millisecond early.
    expect((at[2] ?? 0) - begun).toBeGreaterThan(195);
    expect(await failure(asked[4] ?? Promise.resolve())).toMatchObject({ kind: 'retryable' });
  });

  it('end while they wait when their caller gives up', async () => {
    const search = searchInTurns(engine, { perMinute: 1, atOnce: 4, waitMs: 120_000 });
    void search('q', { workspaceId: 'w', signal });
    const aborted = new AbortController();
    const waiting = search('q', { workspaceId: 'w', signal: aborted.signal });
    aborted.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
  });
});

// contract.md N14
describe('the pages that ship with the service', () => {
  let served: ServedPages;
  let engine: SearchEngine;
  beforeAll(async () => {
    served = await servePages();
    engine = createPseudoSearch(served);
  });
  afterAll(() => served.close());

  it.each([
    ['how much water do tomatoes need', '/watering-tomatoes', 'kitchen-plot'],
    ['coffee ratio grams per litre filter', '/ratios', 'brew-desk'],
    ['bicycle chain lifetime kilometres', '/chain-care', 'slow-wheels'],
    ['heating thermostat one degree savings', '/thermostat-test', 'watt-watch'],
    ['Tomaten gießen', '/tomaten-giessen', 'gartenzeit'],
  ])('are found by words: %s', async (query, path, site) => {
    const urls = (await engine.search(query, signal)).slice(0, 3).map(({ url }) => new URL(url));
    expect(urls.map(({ hostname, pathname }) => [hostname, pathname])).toContainEqual([
      `${site}.localhost`,
      path,
    ]);
  });

  it('are not found by words about something else', async () => {
    expect(await engine.search('quantum chromodynamics lattice simulations', signal)).toEqual([]);
    expect(await engine.search('the and of a', signal)).toEqual([]);
    expect(await engine.search('', signal)).toEqual([]);
  });

  it('are from at least eight sites, each page with a title, a date and text', () => {
    expect(new Set(served.pages.map(({ site }) => site)).size).toBeGreaterThanOrEqual(8);
    expect(served.pages.length).toBeGreaterThanOrEqual(25);
    for (const { title, publishedAt, paragraphs } of served.pages) {
      expect(title).not.toBe('');
      expect(publishedAt).not.toBeNull();
      expect(paragraphs.length).toBeGreaterThan(2);
    }
  });

  it('are searched and read without a network and without an allowed network', async () => {
    const research = await createResearch(loadConfig({ WEB_RESEARCH: 'true' }));
    if (research === null) throw new Error('research is off');
    const [first] = await research.search('storing potatoes in winter', { workspaceId: 'w', signal });
    expect(first?.title).toBe('Storing potatoes through the winter');
    const outcome = await research.readPage(first?.url ?? '', { workspaceId: 'w', signal });
    expect(outcome).toMatchObject({
      ok: true,
      page: {
        site: 'The Kitchen Plot',
        text: expect.stringContaining('four to eight degrees'),
        publishedAt: new Date('2025-09-18T08:00:00Z'),
      },
    });
    // Nothing else of this machine is open to it.
    const { port } = new URL(first?.url ?? '');
    for (const url of [`http://127.0.0.1:${port}/`, `http://kitchen-plot.localhost:${Number(port) + 1}/`]) {
      expect(await research.readPage(url, { workspaceId: 'w', signal })).toMatchObject({
        refusal: 'not a public address',
      });
    }
    await research.close();
  });
});
