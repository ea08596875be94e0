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
  readonly Plans?: readonly Plan[];
}

const TABLES = sql`events, event_queue, webhook_open, webhook_log, webhook_endpoints, webhook_bursts, webhook_paces`;
/** A partition stands for its table. */
const general = (name = '') => name.replace(/_(\d{8}(_\d{4})?|default)/, '');

/** Every node of a plan once, with its table and index. */
const nodesOf = (plan: Plan): string[] => [
  ...new Set([
    `${plan['Node Type']} ${general(plan['Relation Name'])} ${general(plan['Index Name'])}`.trim(),
    ...(plan.Plans ?? []).flatMap(nodesOf),
  ]),
];

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
        plans[name] = nodesOf(plan).sort();
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
  const nodes = Object.values(full).flat();
  expect(nodes.filter((node) => /^(Seq Scan|Bitmap|Materialize|Hash Join|Merge Join)/.test(node))).toEqual(
    [],
  );
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
      const read = await own.transaction().execute(async (tx) => {
        const { deliveries } = await claim({ burstId, candidates: [candidate(50)] }, tx as typeof db);
        expect(deliveries).toHaveLength(50);
        const { rows } = await sql<{ read: number }>`
          SELECT sum(idx_tup_fetch + seq_tup_read)::integer AS read FROM pg_stat_xact_all_tables
          WHERE relname ~ '^events'`.execute(tx);
        return rows[0]?.read;
      });
      expect(read).toBe(50);
    });
  } finally {
    await db.destroy();
  }
});
