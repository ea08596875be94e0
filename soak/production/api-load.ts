import { setTimeout as sleep } from 'node:timers/promises';
import { longDocument } from '../../test/support/articles.ts';
import { quantile } from '../support/report.ts';

export interface LoadTarget {
  readonly url: string;
  readonly key: string;
  readonly projectId: string;
  /** A published article, whose every rename is an event. */
  readonly articleId: string;
}

/** What a stream of requests came to. */
export interface Tally {
  readonly name: string;
  requests: number;
  readonly failures: string[];
  readonly milliseconds: number[];
}

export interface ApiLoad {
  readonly tallies: readonly Tally[];
  /** Jobs of the translations that were accepted. */
  readonly jobs: ReadonlySet<string>;
  stop(): Promise<void>;
}

/** Longer than a request for suggestions may take by its own promise, 60 s. */
const GIVE_UP_MS = 65_000;
const WORDS = 1_200;

/**
 * Calls the API at a steady pace, without waiting for the calls before: articles are made, one that is published is
 * renamed, translations and suggestions are paid for, and all of it is read. An answer that is not the one expected
 * is a failure.
 */
export function startApiLoad({ url, key, projectId, articleId }: LoadTarget): ApiLoad {
  const jobs = new Set<string>();
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
    if (response.status !== expected) throw new Error(`${response.status} ${text.slice(0, 200)}`);
    return JSON.parse(text) as { article: { id: string }; job: { id: string } };
  }

  let serial = 0;
  const create = async (tally: Tally) => {
    serial += 1;
    const body = { title: `Article ${serial}`, documentJson };
    const { article } = await call(tally, 'POST', `/api/projects/${projectId}/articles`, 201, body);
    untranslated.push(article.id);
  };
  const rename = async (tally: Tally) => {
    serial += 1;
    const body = { title: `A garden in spring, ${serial}` };
    await call(tally, 'PATCH', `/api/articles/${articleId}`, 200, body);
  };
  const translate = async (tally: Tally) => {
    const source = untranslated.shift() ?? articleId;
    const path = `/api/articles/${source}/translations`;
    const { job } = await call(tally, 'POST', path, 202, { language: 'es' });
    jobs.add(job.id);
  };
  const suggest = async (tally: Tally) => {
    await call(tally, 'POST', `/api/articles/${articleId}/categories/suggest`, 200, {});
  };
  const read = async (tally: Tally) => {
    const id = [...jobs].at(-1 - Math.floor(Math.random() * 20));
    await call(tally, 'GET', id === undefined ? `/api/articles/${articleId}` : `/api/jobs/${id}`, 200);
  };

  const open = new Set<Promise<void>>();
  let stopped = false;
  const every = (name: string, ms: number, work: (tally: Tally) => Promise<void>) => {
    const tally: Tally = { name, requests: 0, failures: [], milliseconds: [] };
    const run = async () => {
      while (!stopped) {
        tally.requests += 1;
        const one = work(tally).catch((error: unknown) => {
          tally.failures.push(error instanceof Error ? error.message : String(error));
        });
        open.add(one);
        one.finally(() => open.delete(one));
        await sleep(ms);
      }
    };
    return { tally, running: run() };
  };
  const streams = [
    every('create an article', 350, create),
    every('rename a published one', 1_000, rename),
    every('translate', 1_000, translate),
    every('suggest categories', 4_000, suggest),
    every('read', 250, read),
  ];
  return {
    tallies: streams.map(({ tally }) => tally),
    jobs,
    async stop() {
      stopped = true;
      await Promise.all(streams.map(({ running }) => running));
      await Promise.all(open);
    },
  };
}

/** The tallies as rows of a table. */
export const tallyRows = (tallies: readonly Tally[]): (string | number)[][] => [
  ['calls', 'made', 'failed', 'median ms', 'p99 ms', 'longest ms'],
  ...tallies.map(({ name, requests, failures, milliseconds }) => [
    name,
    requests,
    failures.length,
    ...[0.5, 0.99, 1].map((share) => quantile(milliseconds, share).toFixed(0)),
  ]),
];
