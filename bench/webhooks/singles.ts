/**
 * Single events, all of it durable: from POST publish, or PUT categories, to the receiver, through `npm start` on one side
 * and on the other through bare Hono and pg with a loop that sends (bare/service.ts), on the same Postgres in turns. How
 * many a second by 32 callers, and their CPU time in all processes; then the time of each at a steady pace, from a cold start of the load.
 *
 * Environment: BENCH_ROUNDS (3), BENCH_EVENTS (1500) of a round, BENCH_PER_SECOND (100), BENCH_SECONDS (60); BENCH_CATEGORIES
 * (0): 1 replaces categories instead; BENCH_BEFORE (1500) events before the first round; BENCH_ANALYZED (0): 1 analyzes all
 * tables while they are empty.
 */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { Pool } from 'undici';
import { storeCategory } from '../../soak/support/category.ts';
import { temporaryFolder } from '../../soak/support/engines.ts';
import { print, quantile, setting } from '../../soak/support/report.ts';
import { createScriptService, untilDelivered } from '../../soak/support/service.ts';
import { renderDocument } from '../../src/document/render/document.ts';
import { RENDERER } from '../../src/document/render/shared.ts';
import { readStackRecord } from '../../src/local/stack-file.ts';
import { createProject } from '../../src/projects/create.ts';
import { SHORT_DOCUMENT } from '../../test/support/articles.ts';
import { launch, ready } from '../../test/support/start.ts';
import { startChild } from '../lib/child.ts';
import { cpuTimeOf } from '../lib/cpu.ts';
import { alternate, type Comparison, type Figure, report } from '../lib/suite.ts';
import { startSink } from './receiving.ts';

const ROUNDS = setting('BENCH_ROUNDS', 3);
const EVENTS = setting('BENCH_EVENTS', 1_500);
const PER_SECOND = setting('BENCH_PER_SECOND', 100);
const SECONDS = setting('BENCH_SECONDS', 60);
const CALLERS = 32;
/** So many until both run as compiled as they will. */
const WARM_UP = setting('BENCH_BEFORE', 1_500);
const IS_ANALYZED = setting('BENCH_ANALYZED', 0) === 1;
const VERB = setting('BENCH_CATEGORIES', 0) === 1 ? 'replace categories' : 'publish';
const QUIET_MS = 5_000;
const DEADLINE_MS = 120_000;

const folder = temporaryFolder();
const start = launch('src/local/main.ts', {
  DATA_DIR: folder.path,
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  RATE_LIMIT_PER_KEY: '0',
  RATE_LIMIT_PER_WORKSPACE: '0',
  RATE_LIMIT_PER_ADDRESS: '0',
  METRICS_PORT: '0',
});
const serviceUrl = await ready(start);
const stack = readStackRecord(folder.path);
if (!stack?.postgres || !stack.temporal) throw new Error('stack.json does not name both engines');
const { databaseUrl } = stack.postgres;
const pidOf = {
  service: start.child.pid ?? 0,
  postgres: stack.postgres.process.pid,
  temporal: stack.temporal.process.pid,
};
const script = createScriptService({
  databaseUrl,
  temporalAddress: stack.temporal.address,
  workflowBundle: '',
});
const { db } = script;
const sink = await startSink(2);
const [ourReceiver = '', bareReceiver = ''] = sink.urls;

async function makeBareTables(key: string, workspaceId: string): Promise<void> {
  for (const statement of [
    sql`CREATE SCHEMA bare`,
    sql`CREATE TABLE bare.keys (key_hash bytea PRIMARY KEY, workspace_id uuid NOT NULL)`,
    sql`CREATE TABLE bare.articles (LIKE articles INCLUDING ALL)`,
    sql`CREATE TABLE bare.article_categories (article_id uuid, category_id uuid, PRIMARY KEY (article_id, category_id))`,
    sql`CREATE TABLE bare.events (id uuid PRIMARY KEY, workspace_id uuid NOT NULL, body bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now())`,
    sql`CREATE TABLE bare.deliveries (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      event_id uuid NOT NULL REFERENCES bare.events, claimed boolean NOT NULL DEFAULT false, status integer,
      ended_at timestamptz)`,
    sql`CREATE INDEX ON bare.deliveries (id) WHERE NOT claimed`,
    sql`INSERT INTO bare.keys VALUES (${createHash('sha256').update(key).digest()}, ${workspaceId})`,
  ]) {
    await statement.execute(db);
  }
}

const workspace = await script.workspace('Bench');
await script.register(workspace, ourReceiver, ['article.published', 'article.updated']);
await makeBareTables(workspace.key, workspace.id);
const projectId = await createProject(workspace.context, {
  name: 'Bench',
  languages: ['en'],
  primaryLanguage: 'en',
});
const bare = await startChild(new URL('bare/service.ts', import.meta.url), {
  DATABASE_URL: databaseUrl,
  BARE_RECEIVER: bareReceiver,
});

const categoryId = await storeCategory(workspace.context, 0);
if (IS_ANALYZED) await sql`ANALYZE`.execute(db);

type Side = 'ours' | 'bare';
const urlOf: Record<Side, string> = { ours: serviceUrl, bare: bare.url };

const document = JSON.stringify(SHORT_DOCUMENT);
const { html, markdown } = renderDocument(SHORT_DOCUMENT);

/** Articles as their last save left them, to be published or already so, in one statement. */
async function storeArticles(side: Side, articles: number): Promise<string[]> {
  const table = sql.raw(side === 'ours' ? 'articles' : 'bare.articles');
  const { rows } = await sql<{ id: string }>`
    INSERT INTO ${table} (id, workspace_id, project_id, title, slug, status, document, content_html,
      content_markdown, rendered_by, primary_language, translation_group_id, word_count, published_at)
    SELECT gen_random_uuid(), ${workspace.id}, ${projectId}, 'What to plant in week ' || n,
      'plant-' || ${randomUUID()}::text || n, ${VERB === 'publish' ? 'APPROVED' : 'PUBLISHED'}, ${document}, ${html}, ${markdown},
      ${RENDERER}::smallint, 'en', gen_random_uuid(), 12,
      CASE WHEN ${VERB !== 'publish'}::boolean THEN now() END
    FROM generate_series(1, ${articles}::integer) AS n RETURNING id`.execute(db);
  await sql`ANALYZE ${table}`.execute(db);
  return rows.map(({ id }) => id);
}

async function call(pool: Pool, id: string): Promise<void> {
  const { statusCode, body } = await pool.request({
    headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
    ...(VERB === 'publish'
      ? { method: 'POST', path: `/api/articles/${id}/publish` }
      : {
          method: 'PUT',
          path: `/api/articles/${id}/categories`,
          body: JSON.stringify({ categoryIds: [categoryId] }),
        }),
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${statusCode} ${text}`);
}

/** Until all has arrived and is recorded. @returns when the last arrived, in milliseconds since the epoch */
async function arrived(wanted: number): Promise<number> {
  for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; await sleep(50)) {
    const seen = await sink.count();
    if (seen.count < wanted) continue;
    await untilDelivered(db, 50);
    return seen.lastAt;
  }
  throw new Error(`not all of ${wanted} arrived`);
}

/** Both engines are children of the service, whose own time is what is left of the sum. */
function ourCpu(): Record<string, number> {
  const postgres = cpuTimeOf(pidOf.postgres);
  const temporal = cpuTimeOf(pidOf.temporal);
  return { service: cpuTimeOf(pidOf.service) - postgres - temporal, postgres, temporal };
}

const cpuNow = async (side: Side): Promise<Record<string, number>> =>
  side === 'ours'
    ? ourCpu()
    : { service: (await bare.cpuTime()) / 1_000, postgres: cpuTimeOf(pidOf.postgres) };

/** CPU milliseconds of one event, by side and process, a value for each round. */
const cpu: Record<Side, Map<string, number[]>> = { ours: new Map(), bare: new Map() };

async function rateOf(side: Side, events: number): Promise<number> {
  const ids = await storeArticles(side, events);
  await sink.clear();
  const pool = new Pool(urlOf[side], { connections: CALLERS });
  const before = await cpuNow(side);
  const startedAt = Date.now();
  const caller = async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) await call(pool, id);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const publishedAt = Date.now();
  const lastAt = await arrived(events);
  const after = await cpuNow(side);
  for (const [name, value] of Object.entries(after)) {
    const perEvent = (value - (before[name] ?? 0)) / events;
    cpu[side].set(name, [...(cpu[side].get(name) ?? []), perEvent]);
  }
  await pool.close();
  print(
    `${side}: published in ${publishedAt - startedAt} ms, the last received ${lastAt - publishedAt} ms later`,
  );
  return (events * 1_000) / (lastAt - startedAt);
}

/** Milliseconds from each call to its response, and to the event's arrival, at a steady pace. */
async function paced(side: Side): Promise<{ responded: number[]; received: number[] }> {
  const events = PER_SECOND * SECONDS;
  const ids = await storeArticles(side, events);
  await sink.clear();
  await sleep(QUIET_MS);
  const pool = new Pool(urlOf[side], { connections: 64 });
  const called = new Map<string, number>();
  const calls: Promise<void>[] = [];
  const responded: number[] = [];
  const startedAt = Date.now();
  for (const [index, id] of ids.entries()) {
    await sleep(Math.max(0, startedAt + (index * 1_000) / PER_SECOND - Date.now()));
    called.set(id, Date.now());
    const calledAt = performance.now();
    calls.push(call(pool, id).then(() => void responded.push(performance.now() - calledAt)));
  }
  await Promise.all(calls);
  await arrived(events);
  await pool.close();
  const received = (await sink.report()).map(
    ({ at, articleId }) => at - (called.get(articleId) ?? Number.NaN),
  );
  return { responded, received };
}

try {
  for (const side of ['ours', 'bare'] as const) await rateOf(side, WARM_UP);
  for (const side of [cpu.ours, cpu.bare]) side.clear();
  const rates = await alternate(ROUNDS, {
    ours: () => rateOf('ours', EVENTS),
    bare: () => rateOf('bare', EVENTS),
  });
  const sumOf = (side: Side) =>
    Array.from({ length: ROUNDS }, (_, round) =>
      [...cpu[side].values()].reduce((sum, values) => sum + (values[round] ?? 0), 0),
    );
  const comparisons: Comparison[] = [
    {
      name: `${VERB} to received, ${CALLERS} callers, events/s`,
      higherIsBetter: true,
      promised: 0.5,
      ...rates,
    },
    {
      name: 'the same, CPU of all processes, ms an event',
      higherIsBetter: false,
      promised: 2,
      ours: sumOf('ours'),
      bare: sumOf('bare'),
    },
  ];
  const figures: Figure[] = (['ours', 'bare'] as const).flatMap((side) =>
    [...cpu[side]].map(([name, values]) => ({ name: `CPU of ${name}, ms an event, ${side}`, values })),
  );
  if (SECONDS > 0) {
    const latencies = { bare: await paced('bare'), ours: await paced('ours') };
    for (const [share, name, enough] of [
      [0.5, 'p50', 25],
      [0.95, 'p95', 60],
      [0.99, 'p99', 60],
    ] as const) {
      const bareMs = quantile(latencies.bare.received, share);
      comparisons.push({
        name: `${VERB} to received at ${PER_SECOND}/s, ${name}, ms`,
        higherIsBetter: false,
        ours: [quantile(latencies.ours.received, share)],
        bare: [bareMs],
        promised: Number(Math.max(4, enough / bareMs).toPrecision(3)),
      });
    }
    for (const [side, { responded, received }] of Object.entries(latencies)) {
      figures.push({ name: `${VERB} to its response at ${PER_SECOND}/s, ms, ${side}`, values: responded });
      figures.push({ name: `${VERB} to received at ${PER_SECOND}/s, ms, ${side}`, values: received });
    }
  }
  report('singles', comparisons, figures);
} finally {
  await bare.stop();
  await script.stop();
  await sink.close();
  start.child.kill('SIGTERM');
  await start.ended;
  folder.remove();
}
