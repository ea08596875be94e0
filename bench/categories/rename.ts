/**
 * Changing a category that many published articles carry, with three subscribed endpoints: the time to the response of
 * its PATCH, and of its DELETE, and the time until all events and deliveries are stored, as a worker's relay stores them.
 * Beside each one bare INSERT … SELECT that writes the same rows from tables made beforehand, on the same Postgres in
 * the same run, in turns. Each starts from empty tables; nothing is sent.
 *
 * Environment: BENCH_ROUNDS (3), BENCH_ARTICLES (1000,10000,100000).
 */
import { performance } from 'node:perf_hooks';
import { sql } from 'kysely';
import { storeCategory, storePublishedArticles } from '../../soak/support/category.ts';
import { print, setting } from '../../soak/support/report.ts';
import { deleteCategory } from '../../src/categories/delete.ts';
import { updateCategory } from '../../src/categories/update.ts';
import type { VerbContext } from '../../src/context.ts';
import type { Database } from '../../src/db/database.ts';
import { expandFanOuts } from '../../src/events/fan-out.ts';
import { type EndpointId, newId } from '../../src/ids.ts';
import { generateSecret } from '../../src/webhooks/secrets/generate.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { withBenchDatabase } from '../lib/database.ts';
import { type Comparison, report } from '../lib/suite.ts';

const ROUNDS = setting('BENCH_ROUNDS', 3);
const SIZES = (process.env.BENCH_ARTICLES ?? '1000,10000,100000').split(',').map(Number);
const ENDPOINTS = 3;
/** The promise applies from this many articles on; fewer fan out at once. */
const MANY = 100_000;
const PROMISED = { response: 0.05, stored: 1.5 };

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** A workspace with as many published articles as the largest size, and its subscribed endpoints. */
async function seed(db: Database): Promise<VerbContext> {
  const { workspaceId } = await createWorkspace(db, { name: 'Bench', credits: 0 });
  const context: VerbContext = { db, actor: { kind: 'operator', workspaceId }, requestId: 'bench' };
  await storePublishedArticles(context, Math.max(...SIZES));
  await db
    .insertInto('webhook_endpoints')
    .values(
      Array.from({ length: ENDPOINTS }, () => ({
        id: newId<EndpointId>(),
        workspace_id: workspaceId,
        url: 'http://127.0.0.1:9/hooks',
        secret: generateSecret(),
        events: ['article.updated'],
      })),
    )
    .execute();
  return context;
}

/** Copies the written rows for the bare statement, and checks that none is missing. */
async function copyRows({ db }: VerbContext, articles: number): Promise<void> {
  await sql`DROP TABLE IF EXISTS bare_events, bare_queue, bare_deliveries`.execute(db);
  await sql`CREATE TABLE bare_events AS SELECT * FROM events`.execute(db);
  await sql`CREATE TABLE bare_queue AS SELECT workspace_id, event_id, event_created_at FROM event_queue`.execute(
    db,
  );
  await sql`CREATE TABLE bare_deliveries AS SELECT * FROM webhook_open`.execute(db);
  await sql`ANALYZE bare_events, bare_queue, bare_deliveries`.execute(db);
  const { rows } = await sql<{ events: number; deliveries: number }>`
    SELECT (SELECT count(*) FROM bare_events) AS events, (SELECT count(*) FROM bare_deliveries) AS deliveries
  `.execute(db);
  const written = JSON.stringify(rows[0]);
  const expected = JSON.stringify({ events: articles, deliveries: articles * ENDPOINTS });
  if (written !== expected) throw new Error(`${written} were written, not ${expected}.`);
}

const writeBare = ({ db }: VerbContext) =>
  sql`
    WITH stored AS (INSERT INTO events SELECT * FROM bare_events),
    queued AS (INSERT INTO event_queue (workspace_id, event_id, event_created_at) SELECT * FROM bare_queue)
    INSERT INTO webhook_open SELECT * FROM bare_deliveries`.execute(db);

/** Empties the tables and writes a checkpoint. */
async function reset({ db }: VerbContext): Promise<void> {
  await sql`TRUNCATE events, event_queue, webhook_open, event_fanouts, event_fanout_hours`.execute(db);
  await sql`CHECKPOINT`.execute(db);
}

/** The change, then the relay's work that it left. */
async function timedChange({ db }: VerbContext, change: () => Promise<unknown>) {
  const responseMs = await timed(change);
  const restMs = await timed(() => expandFanOuts(db, { signal: new AbortController().signal }));
  return { responseMs, storedMs: responseMs + restMs };
}

async function measure(context: VerbContext, articles: number): Promise<Comparison[]> {
  const { db } = context;
  let category = await storeCategory(context, articles);
  await sql`VACUUM ANALYZE articles, article_categories`.execute(db);
  const rename = (name: string) => () =>
    updateCategory(context, category, { translations: [{ language: 'en', name }] });
  await reset(context);
  await timedChange(context, rename(`Warmed up by ${articles}`));
  await copyRows(context, articles);

  const values = {
    renamed: [] as number[],
    deleted: [] as number[],
    stored: [] as number[],
    bare: [] as number[],
  };
  for (let round = 1; round <= ROUNDS; round += 1) {
    await reset(context);
    const renamed = await timedChange(context, rename(`Carried by ${articles}, renamed ${round}`));
    await reset(context);
    values.bare.push(await timed(() => writeBare(context)));
    await reset(context);
    const deleted = await timedChange(context, () => deleteCategory(context, category));
    values.renamed.push(renamed.responseMs);
    values.deleted.push(deleted.responseMs);
    values.stored.push(renamed.storedMs);
    category = await storeCategory(context, articles);
    await sql`VACUUM ANALYZE article_categories`.execute(db);
    const cells = [renamed.responseMs, renamed.storedMs, deleted.responseMs, values.bare.at(-1) ?? 0];
    print(
      `${articles} articles, round ${round}, ms to rename, store, delete; bare: ${cells.map(Math.round).join(', ')}`,
    );
  }
  const of = (name: string, ours: number[], promised: number): Comparison => ({
    name: `category with ${articles} articles, ${name}, ms`,
    higherIsBetter: false,
    ours,
    bare: values.bare,
    ...(articles >= MANY ? { promised } : {}),
  });
  return [
    of('PATCH to its response', values.renamed, PROMISED.response),
    of('DELETE to its response', values.deleted, PROMISED.response),
    of('PATCH until all is stored', values.stored, PROMISED.stored),
  ];
}

async function run(db: Database): Promise<void> {
  const context = await seed(db);
  const comparisons: Comparison[] = [];
  for (const articles of SIZES) comparisons.push(...(await measure(context, articles)));
  report('categories', comparisons);
}

// No limit on statements: the bare one has none of its own, and the rename sets its own.
await withBenchDatabase(run);
