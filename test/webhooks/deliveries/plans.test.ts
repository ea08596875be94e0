import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { type DeliveryId, newId } from '../../../src/ids.ts';
import { createDeliveryDatabase } from '../../../src/processes/delivery-database.ts';
import { beginAttempts } from '../../../src/webhooks/deliveries/begin.ts';
import { recordAttempts } from '../../../src/webhooks/deliveries/record.ts';
import { spendForRun } from '../../../src/webhooks/pace/spend-for-run.ts';
import { WALK_START } from '../../../src/webhooks/relay/claim.ts';
import { logger } from '../../support/service.ts';
import { IN_RUN, outcome, useDeliveries } from './support.ts';

const { service, store, claim, candidate, openBurst, endpoint } = useDeliveries();

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Plan[];
}

const TABLES = sql`events, event_queue, webhook_open, webhook_log, webhook_endpoints, webhook_bursts, webhook_paces`;
/** Either index of a partition of events finds one event of a workspace; empty partitions take the other one. */
const OF_EVENTS = /^Index Scan events /;
/** A partition stands for its table. */
const general = (name = '') => name.replace(/_(\d{8}(_\d{4})?|default)/, '');

/** How a plan reads each table, and what it keeps of one beyond the rows that the statement names. */
function readsOf(plan: Plan): string[] {
  const table = plan['Relation Name'];
  const read = `${plan['Node Type']} ${general(table)} ${general(plan['Index Name'])}`.trim();
  const below = plan.Plans ?? [];
  const kept = plan['Node Type'] === 'Materialize' ? below.filter(isWhole).map(() => 'keeps a table') : [];
  const all = [...(table === undefined ? [] : [read]), ...kept, ...below.flatMap(readsOf)];
  return [...new Set(all)].filter((each) => !OF_EVENTS.test(each));
}
const isWhole = (plan: Plan): boolean =>
  plan['Relation Name'] !== undefined && !plan['Index Cond']?.includes('= ANY');

/** The plans that a connection which begins now makes of the engine's statements and keeps. */
async function keptPlans(): Promise<Record<string, string[]>> {
  const db = createDeliveryDatabase(service.config, logger);
  const deliveryId = newId<DeliveryId>();
  try {
    return await db.transaction().execute(async (tx) => {
      const own = tx as typeof db;
      await claim({ isLook: true, walkFrom: WALK_START, candidates: [candidate(0)] }, own);
      await beginAttempts(own, IN_RUN, [{ deliveryId, number: 1, token: randomUUID() }]);
      await recordAttempts(own, [outcome(deliveryId, 'retry')]);
      await spendForRun(own, endpoint.id);
      const { rows } = await sql<{ name: string; statement: string }>`
        SELECT name, statement FROM pg_prepared_statements ORDER BY name`.execute(tx);
      const plans: Record<string, string[]> = {};
      for (const { name, statement } of rows) {
        const explained = await sql<{ 'QUERY PLAN': readonly [{ Plan: Plan }] }>`
          EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${sql.raw(statement)}`.execute(tx);
        const plan = explained.rows[0]?.['QUERY PLAN'][0].Plan;
        if (plan === undefined) throw new Error('no plan');
        plans[name] = readsOf(plan).sort();
      }
      return plans;
    });
  } finally {
    await db.destroy();
  }
}

// contract.md W125
it('the plans that a connection keeps from empty tables are those of full ones: walks along indexes, one lookup a row', async () => {
  await sql`VACUUM ANALYZE ${TABLES}`.execute(service.db);
  const empty = await keptPlans();
  expect(Object.keys(empty).sort()).toEqual([
    'begin_attempts',
    'claim_due',
    'record_attempts',
    'spend_for_run',
  ]);
  // As on a day's first moments: statistics of a few rows, before a rush.
  await store(50);
  await sql`ANALYZE ${TABLES}`.execute(service.db);
  const small = await keptPlans();
  await store(20_000);
  await sql`ANALYZE ${TABLES}`.execute(service.db);
  const full = await keptPlans();
  expect(small).toEqual(full);
  expect(empty).toEqual(full);
  const reads = [...Object.values(empty), ...Object.values(full)].flat();
  expect(reads.filter((read) => /^(keeps|Seq Scan|Bitmap)/.test(read))).toEqual([]);
});

// contract.md W125
it('a claim looks up the events that it takes and no others, with the plan of an empty partition', async () => {
  await sql`VACUUM ANALYZE ${TABLES}`.execute(service.db);
  const db = createDeliveryDatabase({ ...service.config }, logger);
  try {
    const burstId = await openBurst();
    await db.connection().execute(async (own) => {
      await claim({ burstId }, own as typeof db);
      await store(5_000);
      // Events of many other workspaces, through which an index of workspaces could be skipped.
      await sql`INSERT INTO events (id, workspace_id, type, body, created_at)
        SELECT id, gen_random_uuid(), 'article.created', ''::bytea, uuid_extract_timestamp(id)
        FROM (SELECT uuidv7() AS id FROM generate_series(1, 5000)) AS made`.execute(service.db);
      const read = await own.transaction().execute(async (tx) => {
        const { deliveries } = await claim({ burstId, candidates: [candidate(50)] }, tx as typeof db);
        expect(deliveries).toHaveLength(50);
        const { rows } = await sql<{ fetched: number }>`
          SELECT sum(seq_tup_read + idx_tup_fetch)::integer AS fetched FROM pg_stat_xact_all_tables
          WHERE relname ~ '^events'`.execute(tx);
        return rows[0]?.fetched ?? Number.NaN;
      });
      expect(read).toBeGreaterThanOrEqual(50);
      // All 5,000 were made in some milliseconds: those of one millisecond may be passed.
      expect(read).toBeLessThan(50 * 1_000);
    });
  } finally {
    await db.destroy();
  }
});
