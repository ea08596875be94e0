import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { longDocument } from '../../test/support/articles.ts';
import { quantile } from '../support/report.ts';

export interface LoadTarget {
  /** Of the servers, which are called in turn. While there are several, each may be killed at any time. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly projectId: string;
  readonly workspaceId: string;
  /** A published article, whose every rename is an event. */
  readonly articleId: string;
  /** More of them, renamed in turn. */
  readonly articleIds: readonly string[];
  readonly renamesPerSecond: number;
  readonly translationsPerMinute: number;
  readonly generationsPerMinute: number;
  /** Renamed in turn, which is an event of each article that carries it. */
  readonly categories: readonly Carried[];
}

/** A category and the published articles that carry it. */
export interface Carried {
  readonly categoryId: string;
  readonly articleIds: readonly string[];
}

/** Events that were acknowledged, and those of requests without a response. */
export interface Owed {
  certain: number;
  possible: number;
}

/** A response with Retry-After. */
class Refused extends Error {}
/** No response: the connection ended. */
class Cut extends Error {}

/** The results of one stream of requests. */
export interface Tally {
  readonly name: string;
  requests: number;
  /** 503 with Retry-After, allowed where the machine is too small for the load. */
  refused: number;
  /** Without a response, of a server that was killed. */
  cut: number;
  readonly failures: string[];
  readonly milliseconds: number[];
}

export interface ApiLoad {
  readonly tallies: readonly Tally[];
  /** Articles that the service created for accepted translations. */
  readonly accepted: ReadonlySet<string>;
  /** Articles that may have been made by a request without a response, whose ids are not known. */
  orphans(): number;
  /** By event type and article: `article.updated <id>`. */
  readonly owed: ReadonlyMap<string, Owed>;
  stop(): Promise<void>;
}

/** Longer than a request for suggestions may take by its own promise, 60 s. */
const GIVE_UP_MS = 65_000;
const WORDS = 1_200;
const CROWD_EVERY_MS = 45_000;
/** Calls of one request that has an idempotency key, until one is responded to. */
const MAX_CALLS = 5;
const GENERATED_WORDS = 600;
/** Of a generated article with one image. */
const GENERATION_EVENTS = [
  'article.created',
  'article.generation.started',
  'article.generation.completed',
  'credits.consumed',
  'image.generated',
];

/**
 * Calls the API at a steady pace, without waiting for the calls before: articles are made, published ones and
 * categories are renamed, translations and suggestions are paid for, and all of it is read. A response that is not the
 * expected one is a failure, unless it is 503 with Retry-After.
 */
export function startApiLoad(target: LoadTarget): ApiLoad {
  const { urls, key, projectId, workspaceId, articleId, articleIds, categories } = target;
  const jobs: string[] = [];
  const accepted = new Set<string>();
  let orphans = 0;
  const owed = new Map<string, Owed>();
  const owe = (type: string, ids: readonly string[], how: keyof Owed) => {
    for (const id of ids) {
      const of = owed.get(`${type} ${id}`) ?? { certain: 0, possible: 0 };
      of[how] += 1;
      owed.set(`${type} ${id}`, of);
    }
  };
  const untranslated: string[] = [];
  const documentJson = longDocument(WORDS);

  let server = 0;
  /** @throws {Cut} for a server that is killed, where another one is there */
  async function send(url: URL, request: RequestInit): Promise<{ response: Response; text: string }> {
    try {
      const response = await fetch(url, request);
      return { response, text: await response.text() };
    } catch (error) {
      if (urls.length > 1 && error instanceof TypeError) throw new Cut(error.message);
      throw error;
    }
  }

  async function call(
    tally: Tally,
    method: string,
    path: string,
    expected: readonly number[],
    body?: unknown,
  ) {
    const startedAt = performance.now();
    const url = urls[server++ % urls.length];
    const { response, text } = await send(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(GIVE_UP_MS),
    });
    tally.milliseconds.push(performance.now() - startedAt);
    if (response.status === 503 && response.headers.has('retry-after')) throw new Refused();
    if (!expected.includes(response.status)) throw new Error(`${response.status} ${text.slice(0, 200)}`);
    return JSON.parse(text) as { article: { id: string }; job: { id: string } };
  }

  /** A request with an idempotency key, sent again until there is a response. */
  async function callOnce(tally: Tally, path: string, body: object) {
    const keyed = { ...body, idempotencyKey: randomUUID() };
    for (let calls = 1; ; calls += 1) {
      try {
        // 200 once a call without a response was committed.
        return await call(tally, 'POST', path, calls === 1 ? [202] : [202, 200], keyed);
      } catch (error) {
        if (!(error instanceof Cut) || calls === MAX_CALLS) throw error;
      }
    }
  }

  let serial = 0;
  const create = async (tally: Tally) => {
    serial += 1;
    const body = { title: `Article ${serial}`, documentJson };
    const made = await call(tally, 'POST', `/api/projects/${projectId}/articles`, [201], body).catch(
      (error) => {
        if (error instanceof Cut) orphans += 1;
        throw error;
      },
    );
    const { article } = made;
    owe('article.created', [article.id], 'certain');
    untranslated.push(article.id);
  };
  const updating = async (ids: readonly string[], change: () => Promise<unknown>) => {
    try {
      await change();
      owe('article.updated', ids, 'certain');
    } catch (error) {
      owe('article.updated', ids, 'possible');
      throw error;
    }
  };
  const rename = (choose: () => string) => (tally: Tally) => {
    serial += 1;
    const id = choose();
    const body = { title: `A garden in spring, ${serial}` };
    return updating([id], () => call(tally, 'PATCH', `/api/articles/${id}`, [200], body));
  };
  let turn = 0;
  const oneOfMany = () => articleIds[turn++ % articleIds.length] ?? articleId;
  let categoryTurn = 0;
  const renameCategory = async (tally: Tally) => {
    const carried = categories[categoryTurn++ % categories.length];
    if (carried === undefined) return;
    const path = `/api/workspaces/${workspaceId}/categories/${carried.categoryId}`;
    const body = { translations: [{ language: 'en', name: `Gardening ${categoryTurn}` }] };
    await updating(carried.articleIds, () => call(tally, 'PATCH', path, [200], body));
  };
  const translate = async (tally: Tally) => {
    const source = untranslated.shift() ?? articleId;
    const path = `/api/articles/${source}/translations`;
    const { article, job } = await callOnce(tally, path, { language: 'es' });
    owe('article.created', [article.id], 'certain');
    accepted.add(article.id);
    jobs.push(job.id);
  };
  const generate = async (tally: Tally) => {
    serial += 1;
    const generationConfig = {
      topic: `A garden in spring, ${serial}`,
      wordCount: GENERATED_WORDS,
      imageCount: 1,
    };
    const path = `/api/projects/${projectId}/articles/generate`;
    const { article, job } = await callOnce(tally, path, { generationConfig });
    for (const type of GENERATION_EVENTS) owe(type, [article.id], 'certain');
    jobs.push(job.id);
  };
  const suggest = async (tally: Tally) => {
    await call(tally, 'POST', `/api/articles/${articleId}/categories/suggest`, [200], {});
  };
  const read = async (tally: Tally) => {
    const id = jobs.at(-1 - Math.floor(Math.random() * 20));
    await call(tally, 'GET', id === undefined ? `/api/articles/${articleId}` : `/api/jobs/${id}`, [200]);
  };

  const open = new Set<Promise<void>>();
  const stopping = new AbortController();
  const every = (name: string, ms: number, work: (tally: Tally) => Promise<void>) => {
    const tally: Tally = { name, requests: 0, refused: 0, cut: 0, failures: [], milliseconds: [] };
    const run = async () => {
      for (let next = Date.now(); !stopping.signal.aborted; ) {
        tally.requests += 1;
        const one = work(tally).catch((error: unknown) => {
          if (error instanceof Refused) tally.refused += 1;
          else if (error instanceof Cut) tally.cut += 1;
          else tally.failures.push(error instanceof Error ? error.message : String(error));
        });
        open.add(one);
        one.finally(() => open.delete(one));
        next += ms;
        const wait = Math.max(0, next - Date.now());
        await sleep(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    };
    return { tally, running: run() };
  };
  const streams = [
    every('create an article', 1_000, create),
    every(
      'rename a published one',
      1_000,
      rename(() => articleId),
    ),
    every('rename one of many', 1_000 / target.renamesPerSecond, rename(oneOfMany)),
    every('rename a category', CROWD_EVERY_MS, renameCategory),
    every('translate', 60_000 / target.translationsPerMinute, translate),
    ...(target.generationsPerMinute === 0
      ? []
      : [every('generate', 60_000 / target.generationsPerMinute, generate)]),
    every('suggest categories', 4_000, suggest),
    every('read', 500, read),
  ];
  return {
    tallies: streams.map(({ tally }) => tally),
    accepted,
    orphans: () => orphans,
    owed,
    async stop() {
      stopping.abort();
      await Promise.all(streams.map(({ running }) => running));
      await Promise.all(open);
    },
  };
}

/** The tallies as rows of a table. */
export const tallyRows = (tallies: readonly Tally[]): (string | number)[][] => [
  ['calls', 'made', 'refused', 'cut', 'failed', 'median ms', 'p99 ms', 'longest ms'],
  ...tallies.map(({ name, requests, refused, cut, failures, milliseconds }) => [
    name,
    requests,
    refused,
    cut,
    failures.length,
    ...[0.5, 0.99, 1].map((share) => quantile(milliseconds, share).toFixed(0)),
  ]),
];
