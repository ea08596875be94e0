import { setTimeout as sleep } from 'node:timers/promises';
import { longDocument } from '../../test/support/articles.ts';
import { quantile } from '../support/report.ts';

export interface LoadTarget {
  readonly url: string;
  readonly key: string;
  readonly projectId: string;
  readonly workspaceId: string;
  /** A published article, whose every rename is an event. */
  readonly articleId: string;
  /** More of them, renamed in turn. */
  readonly articleIds: readonly string[];
  readonly renamesPerSecond: number;
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

/** The results of one stream of requests. */
export interface Tally {
  readonly name: string;
  requests: number;
  /** 503 with Retry-After, allowed where the machine is too small for the load. */
  refused: number;
  readonly failures: string[];
  readonly milliseconds: number[];
}

export interface ApiLoad {
  readonly tallies: readonly Tally[];
  /** Articles that the service created for accepted translations. */
  readonly accepted: ReadonlySet<string>;
  /** By event type and article: `article.updated <id>`. */
  readonly owed: ReadonlyMap<string, Owed>;
  stop(): Promise<void>;
}

/** Longer than a request for suggestions may take by its own promise, 60 s. */
const GIVE_UP_MS = 65_000;
const WORDS = 1_200;
const CROWD_EVERY_MS = 45_000;

/**
 * Calls the API at a steady pace, without waiting for the calls before: articles are made, published ones and
 * categories are renamed, translations and suggestions are paid for, and all of it is read. A response that is not the
 * expected one is a failure, unless it is 503 with Retry-After.
 */
export function startApiLoad(target: LoadTarget): ApiLoad {
  const { url, key, projectId, workspaceId, articleId, articleIds, categories } = target;
  const jobs: string[] = [];
  const accepted = new Set<string>();
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

  async function call(tally: Tally, method: string, path: string, expected: number, body?: unknown) {
    const startedAt = performance.now();
    const response = await fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(GIVE_UP_MS),
    });
    const text = await response.text();
    tally.milliseconds.push(performance.now() - startedAt);
    if (response.status === 503 && response.headers.has('retry-after')) throw new Refused();
    if (response.status !== expected) throw new Error(`${response.status} ${text.slice(0, 200)}`);
    return JSON.parse(text) as { article: { id: string }; job: { id: string } };
  }

  let serial = 0;
  const create = async (tally: Tally) => {
    serial += 1;
    const body = { title: `Article ${serial}`, documentJson };
    const { article } = await call(tally, 'POST', `/api/projects/${projectId}/articles`, 201, body);
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
    return updating([id], () => call(tally, 'PATCH', `/api/articles/${id}`, 200, body));
  };
  let turn = 0;
  const oneOfMany = () => articleIds[turn++ % articleIds.length] ?? articleId;
  let categoryTurn = 0;
  const renameCategory = async (tally: Tally) => {
    const carried = categories[categoryTurn++ % categories.length];
    if (carried === undefined) return;
    const path = `/api/workspaces/${workspaceId}/categories/${carried.categoryId}`;
    const body = { translations: [{ language: 'en', name: `Gardening ${categoryTurn}` }] };
    await updating(carried.articleIds, () => call(tally, 'PATCH', path, 200, body));
  };
  const translate = async (tally: Tally) => {
    const source = untranslated.shift() ?? articleId;
    const path = `/api/articles/${source}/translations`;
    const { article, job } = await call(tally, 'POST', path, 202, { language: 'es' });
    owe('article.created', [article.id], 'certain');
    accepted.add(article.id);
    jobs.push(job.id);
  };
  const suggest = async (tally: Tally) => {
    await call(tally, 'POST', `/api/articles/${articleId}/categories/suggest`, 200, {});
  };
  const read = async (tally: Tally) => {
    const id = jobs.at(-1 - Math.floor(Math.random() * 20));
    await call(tally, 'GET', id === undefined ? `/api/articles/${articleId}` : `/api/jobs/${id}`, 200);
  };

  const open = new Set<Promise<void>>();
  const stopping = new AbortController();
  const every = (name: string, ms: number, work: (tally: Tally) => Promise<void>) => {
    const tally: Tally = { name, requests: 0, refused: 0, failures: [], milliseconds: [] };
    const run = async () => {
      for (let next = Date.now(); !stopping.signal.aborted; ) {
        tally.requests += 1;
        const one = work(tally).catch((error: unknown) => {
          if (error instanceof Refused) tally.refused += 1;
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
    every('translate', 2_000, translate),
    every('suggest categories', 4_000, suggest),
    every('read', 500, read),
  ];
  return {
    tallies: streams.map(({ tally }) => tally),
    accepted,
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
  ['calls', 'made', 'refused', 'failed', 'median ms', 'p99 ms', 'longest ms'],
  ...tallies.map(({ name, requests, refused, failures, milliseconds }) => [
    name,
    requests,
    refused,
    failures.length,
    ...[0.5, 0.99, 1].map((share) => quantile(milliseconds, share).toFixed(0)),
  ]),
];
