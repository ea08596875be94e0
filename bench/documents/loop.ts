/**
 * What documents cost those who wait beside them. A save of an article of 2,000 words through the whole service
 * against one parse of its Markdown texts by micromark alone: the time for which the server's event loop works on
 * it. What one save of the heaviest small articles costs the loop. And for how long the loop is late, and a light request of another workspace waits, while the heaviest legal
 * requests run; the light one is sent 20 times a second.
 *
 * Environment: BENCH_ROUNDS (8).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { startEphemeralEngines } from '../../soak/support/engines.ts';
import { print, setting } from '../../soak/support/report.ts';
import { createDatabase } from '../../src/db/database.ts';
import { collectTexts } from '../../src/document/format/walk.ts';
import { importMarkdown } from '../../src/document/markdown/import.ts';
import { createProject } from '../../src/projects/create.ts';
import { newSecretKey } from '../../src/secret-keys.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { alternate, type Figure, report } from '../lib/suite.ts';
import { HEAVIEST, JUST_SMALL } from './heaviest.ts';
import type { LoopReport } from './service.ts';

const ROUNDS = setting('BENCH_ROUNDS', 8);
const SAVES = 10;
const PROMISED = 3;
const LIGHT_EVERY_MS = 50;
const HEAVY_AT_ONCE = 2;

const engines = await startEphemeralEngines();
const db = createDatabase({ connectionString: engines.databaseUrl });

async function workspace(name: string) {
  const { workspaceId, apiKey } = await createWorkspace(db, { name, credits: 0 });
  const context = { db, actor: { kind: 'operator', workspaceId } as const, requestId: 'bench' };
  const projectId = await createProject(context, { name, languages: ['en'], primaryLanguage: 'en' });
  return { workspaceId, projectId, key: apiKey.key };
}

const heavy = await workspace('Heavy');
const light = await workspace('Light');

const child: ChildProcess = spawn(process.execPath, [fileURLToPath(new URL('service.ts', import.meta.url))], {
  env: {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NODE_ENV: 'production',
    DATABASE_URL: engines.databaseUrl,
    TEMPORAL_ADDRESS: engines.temporalAddress,
    PORT: '0',
    SECRETS_KEYS: newSecretKey('bench'),
    RATE_LIMIT_PER_KEY: '0',
  },
  stdio: ['ignore', 'ignore', process.env.BENCH_STDERR === undefined ? 'ignore' : 'inherit', 'ipc'],
});
const origin = await new Promise<string>((resolve) => child.once('message', (url) => resolve(String(url))));

/** What the server's loop did since the last call. */
const readLoop = (): Promise<LoopReport> =>
  new Promise((resolve) => {
    child.once('message', (report) => resolve(report as LoopReport));
    child.send('report');
  });

async function call(
  key: string,
  method: string,
  path: string,
  body?: string,
): Promise<{ status: number; text: string }> {
  const response = await fetch(origin + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body } : {}),
  });
  return { status: response.status, text: await response.text() };
}

async function createArticle(): Promise<string> {
  const path = `/api/projects/${heavy.projectId}/articles`;
  const { text } = await call(heavy.key, 'POST', path, '{"title":"Benched"}');
  return (JSON.parse(text) as { article: { id: string } }).article.id;
}

/** A page with tables, code and some 2,000 words, which stays as it is so that figures can be compared. */
const { document } = importMarkdown(readFileSync(new URL('./page.md', import.meta.url), 'utf8'));
const body = JSON.stringify({ documentJson: document });
const texts = collectTexts(document).filter(({ markdown }) => markdown);
const articleId = await createArticle();

const results = await alternate(ROUNDS, {
  ours: async () => {
    await readLoop();
    for (let save = 0; save < SAVES; save += 1) {
      const { status, text } = await call(heavy.key, 'PATCH', `/api/articles/${articleId}`, body);
      if (status !== 200) throw new Error(`${status} ${text.slice(0, 500)}`);
    }
    return (await readLoop()).activeMs / SAVES;
  },
  bare: async () => {
    const startedAt = performance.now();
    for (let parse = 0; parse < SAVES; parse += 1) for (const { text } of texts) fromMarkdown(text);
    return (performance.now() - startedAt) / SAVES;
  },
});

const figures: Figure[] = [];

/** The light request, again and again until `work` has ended: how long each took, in milliseconds. */
async function besides(work: Promise<unknown>): Promise<number[]> {
  let ended = false;
  void work.finally(() => {
    ended = true;
  });
  const pending: Promise<number>[] = [];
  do {
    pending.push(
      (async () => {
        const startedAt = performance.now();
        const { status } = await call(light.key, 'GET', `/api/workspaces/${light.workspaceId}/api-keys`);
        if (status !== 200) throw new Error(`the light request got ${status}`);
        return performance.now() - startedAt;
      })(),
    );
    await sleep(LIGHT_EVERY_MS);
  } while (!ended);
  await work;
  return Promise.all(pending);
}

const articles = await Promise.all(Array.from({ length: HEAVY_AT_ONCE }, createArticle));
let memory = 0;
async function measure(
  name: string,
  request: (article: string) => Promise<number>,
  wanted: number,
): Promise<void> {
  await readLoop();
  const startedAt = performance.now();
  const waits = await besides(
    Promise.all(
      articles.map(async (article) => {
        for (let again = 0; again < 3; again += 1) {
          const status = await request(article);
          if (status !== wanted && status !== 503) throw new Error(`${name}: ${status}, not ${wanted}`);
        }
      }),
    ),
  );
  const { longestMs, memoryMiB } = await readLoop();
  memory = Math.max(memory, memoryMiB);
  const took = (performance.now() - startedAt) / 3;
  print(
    `${name}: loop late by ${longestMs.toFixed(0)} ms, light ${Math.max(...waits).toFixed(0)} ms, ${took.toFixed(0)} ms each`,
  );
  figures.push(
    { name: `${name}: loop late by, ms`, values: [longestMs] },
    { name: `${name}: light request, ms`, values: waits },
  );
}

for (const [name, small] of Object.entries(JUST_SMALL)) {
  const values: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await readLoop();
    for (let save = 0; save < SAVES; save += 1) {
      const { status } = await call(heavy.key, 'PATCH', `/api/articles/${articleId}`, small);
      if (status !== 200) throw new Error(`${name}, just small: ${status}`);
    }
    values.push((await readLoop()).cpuMs / SAVES);
  }
  figures.push({ name: `save, just small, ${name}: processor time of the loop, ms`, values });
}

for (const [name, { body: heaviest, status }] of Object.entries(HEAVIEST)) {
  const save = async (article: string) =>
    (await call(heavy.key, 'PATCH', `/api/articles/${article}`, heaviest)).status;
  await save(articles[0] ?? '');
  await measure(`save, ${name}`, save, status);
  if (status !== 200) continue;
  for (const article of articles) await save(article);
  await measure(
    `read, ${name}`,
    async (article) => (await call(heavy.key, 'GET', `/api/articles/${article}`)).status,
    200,
  );
}
figures.push({ name: 'memory of the server, MiB', values: [memory] });

child.kill('SIGTERM');
await db.destroy();
await engines.stop();
report(
  'documents',
  [
    {
      name: 'a save of 2,000 words, ms of the loop',
      higherIsBetter: false,
      ...results,
      promised: PROMISED,
    },
  ],
  figures,
);
