/**
 * Renaming a category that many published articles carry, with three subscribed endpoints, against one bare
 * INSERT … SELECT that writes the same rows from tables made beforehand, on the same Postgres in the same run, in
 * turns. Both start from empty tables; no worker runs, so nothing is sent. Ends with status 1 when a rename takes
 * more than twice the bare statement's time.
 *
 * Environment: BENCH_ROUNDS (3), BENCH_ARTICLES (1000,10000,100000).
 */
import { performance } from 'node:perf_hooks';
import { sql } from 'kysely';
import { storeCategory, storePublishedArticles } from '../../soak/support/category.ts';
import { migrate, temporaryFolder } from '../../soak/support/engines.ts';
import { print } from '../../soak/support/report.ts';
import { updateCategory } from '../../src/categories/update.ts';
import type { VerbContext } from '../../src/context.ts';
import { createDatabase } from '../../src/db/database.ts';
import { type EndpointId, newId } from '../../src/ids.ts';
import { withEmbeddedDatabase } from '../../src/local/embedded-database.ts';
import { generateSecret } from '../../src/webhooks/endpoints/secret.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { type Comparison, report } from '../lib/suite.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SIZES = (process.env.BENCH_ARTICLES ?? '1000,10000,100000').split(',').map(Number);
const ENDPOINTS = 3;
const LIMIT = 2;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** A workspace with as many published articles as the largest size, and its subscribed endpoints. */
async function seed(db: VerbContext['db']): Promise<VerbContext> {
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

/** Keeps a copy of what the rename wrote for the bare statement, and checks that it is all there. */
async function copyRows({ db }: VerbContext, articles: number): Promise<void> {
  await sql`DROP TABLE IF EXISTS bare_events, bare_deliveries`.execute(db);
  await sql`CREATE TABLE bare_events AS
    SELECT id, workspace_id, type, article_id, body, request_id FROM events`.execute(db);
  await sql`CREATE TABLE bare_deliveries AS
    SELECT id, workspace_id, endpoint_id, event_id, event_type, next_attempt_at FROM webhook_deliveries`.execute(
    db,
  );
  await sql`ANALYZE bare_events, bare_deliveries`.execute(db);
  const { rows } = await sql<{ events: number; deliveries: number }>`
    SELECT (SELECT count(*) FROM bare_events) AS events, (SELECT count(*) FROM bare_deliveries) AS deliveries
  `.execute(db);
  const written = JSON.stringify(rows[0]);
  const expected = JSON.stringify({ events: articles, deliveries: articles * ENDPOINTS });
  if (written !== expected) throw new Error(`The rename wrote ${written}, not ${expected}.`);
}

const writeBare = ({ db }: VerbContext) =>
  sql`
    WITH stored AS (
      INSERT INTO events (id, workspace_id, type, article_id, body, request_id)
      SELECT id, workspace_id, type, article_id, body, request_id FROM bare_events
    )
    INSERT INTO webhook_deliveries (id, workspace_id, endpoint_id, event_id, event_type, next_attempt_at)
    SELECT id, workspace_id, endpoint_id, event_id, event_type, next_attempt_at FROM bare_deliveries`.execute(
    db,
  );

/** Empty tables, and nothing of the last measurement left to be written to disk. */
async function reset({ db }: VerbContext): Promise<void> {
  await sql`TRUNCATE events, webhook_deliveries, webhook_attempts`.execute(db);
  await sql`CHECKPOINT`.execute(db);
}

async function measure(context: VerbContext, articles: number): Promise<Comparison> {
  const category = await storeCategory(context, articles);
  await sql`VACUUM ANALYZE articles, article_categories`.execute(context.db);
  const rename = (name: string) => () =>
    updateCategory(context, category, { translations: [{ language: 'en', name }] });
  await reset(context);
  await rename(`Warmed up by ${articles}`)();
  await copyRows(context, articles);

  const renames: number[] = [];
  const bares: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    await reset(context);
    renames.push(await timed(rename(`Carried by ${articles}, renamed ${round}`)));
    await reset(context);
    bares.push(await timed(() => writeBare(context)));
    print(
      `${articles} articles, round ${round}: ${renames.at(-1)?.toFixed(0)} ms, bare ${bares.at(-1)?.toFixed(0)} ms`,
    );
  }
  return {
    name: `rename of a category with ${articles} articles, ms`,
    higherIsBetter: false,
    ours: renames,
    bare: bares,
    promised: LIMIT,
  };
}

async function run(databaseUrl: string): Promise<void> {
  await migrate(databaseUrl);
  // No limit: the bare statement has none of its own, and the rename sets its own.
  const db = createDatabase({ connectionString: databaseUrl, poolSize: 2, statementTimeout: 0 });
  try {
    const context = await seed(db);
    const comparisons: Comparison[] = [];
    for (const articles of SIZES) comparisons.push(await measure(context, articles));
    report('categories', comparisons);
  } finally {
    await db.destroy();
  }
}

const folder = temporaryFolder();
try {
  await withEmbeddedDatabase(folder.path, run);
} finally {
  folder.remove();
}
