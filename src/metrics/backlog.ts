import { type RawBuilder, sql } from 'kysely';
import { Gauge, Registry } from 'prom-client';
import type { HoldPurpose } from '../credits/holds.ts';
import type { Database, Tx } from '../db/database.ts';
import { endpointsWith } from '../webhooks/outbox/skip-scan.ts';

/** Most rows counted of each kind: a longer backlog is reported as this many. */
const MAX_COUNTED = 10_000;
/** Endpoints with waiting deliveries that are looked at for the oldest one. */
const MAX_ENDPOINTS = 1_000;
/** Milliseconds after which Postgres ends any one of these statements. */
const STATEMENT_TIMEOUT_MS = 1_000;

/** What waits, as the database knows it. Ages are in seconds, 0 when nothing waits. */
interface Backlog {
  /** Not handed to Temporal yet. The age counts from when the oldest one was due. */
  readonly outbox: { readonly fresh: number; readonly retries: number; readonly oldestAge: number };
  /** Handed to Temporal and not ended. */
  readonly handedOver: {
    readonly firstAttempts: number;
    readonly retries: number;
    /** How long the most overdue retry could have been made already. */
    readonly oldestOverdue: number;
  };
  readonly holds: readonly {
    readonly purpose: HoldPurpose;
    readonly count: number;
    readonly credits: number;
    readonly oldestAge: number;
  }[];
  readonly jobs: readonly {
    readonly kind: string;
    readonly status: string;
    readonly count: number;
    readonly oldestAge: number;
  }[];
}

/**
 * Reads what waits along partial indexes that hold nothing else, a bounded number of rows of each: the cost does not
 * grow with the tables. The planner gets no choice, since statistics made during a backlog would mislead it after.
 */
export const readBacklog = (db: Database): Promise<Backlog> =>
  db
    .transaction()
    .setAccessMode('read only')
    .execute(async (tx) => {
      await sql`SELECT set_config('statement_timeout', ${String(STATEMENT_TIMEOUT_MS)}, true),
        set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`.execute(tx);
      return {
        outbox: await readOutbox(tx),
        handedOver: await readHandedOver(tx),
        holds: await readHolds(tx),
        jobs: await readJobs(tx),
      };
    });

/**
 * Fresh deliveries and retries lie in indexes of their own. The oldest is looked for among the first of each endpoint,
 * found by skipping along the index as claims do.
 */
async function readOutbox(tx: Tx): Promise<Backlog['outbox']> {
  const fresh = await readOutboxIndex(tx, sql<boolean>`outbox AND attempts = 0`, sql`seq`);
  const retries = await readOutboxIndex(tx, sql<boolean>`outbox AND attempts > 0`, sql`next_attempt_at`);
  return {
    fresh: fresh.count,
    retries: retries.count,
    oldestAge: Math.max(fresh.oldestAge, retries.oldestAge),
  };
}

/** @param rows the index's own condition, word for word @param order its second column */
async function readOutboxIndex(
  tx: Tx,
  rows: RawBuilder<boolean>,
  order: RawBuilder<unknown>,
): Promise<{ count: number; oldestAge: number }> {
  const result = await sql<{ count: number; oldestAge: number }>`
    WITH RECURSIVE waiting (endpoint_id) AS (${endpointsWith('waiting', rows)}
    ), first AS (
      SELECT due FROM (SELECT endpoint_id FROM waiting WHERE endpoint_id IS NOT NULL LIMIT ${MAX_ENDPOINTS}) AS found
      CROSS JOIN LATERAL (
        SELECT GREATEST(created_at, next_attempt_at) AS due FROM webhook_deliveries
        WHERE ${rows} AND webhook_deliveries.endpoint_id = found.endpoint_id
        ORDER BY ${order} LIMIT 1
      ) AS oldest
    ), counted AS (
      SELECT FROM webhook_deliveries WHERE ${rows} ORDER BY endpoint_id, ${order} LIMIT ${MAX_COUNTED}
    )
    SELECT (SELECT count(*) FROM counted)::integer AS count,
      coalesce(GREATEST(0, (SELECT extract(epoch FROM now() - min(due)) FROM first)), 0)::float8 AS "oldestAge"
  `.execute(tx);
  return result.rows[0] ?? { count: 0, oldestAge: 0 };
}

async function readHandedOver(tx: Tx): Promise<Backlog['handedOver']> {
  const { rows } = await sql<Backlog['handedOver']>`
    SELECT count(*) FILTER (WHERE attempts = 0)::integer AS "firstAttempts",
      count(*) FILTER (WHERE attempts > 0)::integer AS retries,
      coalesce(GREATEST(0, extract(epoch FROM now() - min(next_attempt_at) FILTER (WHERE attempts > 0))), 0)::float8
        AS "oldestOverdue"
    FROM (
      SELECT attempts, next_attempt_at FROM webhook_deliveries WHERE ended_at IS NULL AND NOT outbox
      ORDER BY next_attempt_at LIMIT ${MAX_COUNTED}
    ) AS open
  `.execute(tx);
  return rows[0] ?? { firstAttempts: 0, retries: 0, oldestOverdue: 0 };
}

async function readHolds(tx: Tx): Promise<Backlog['holds']> {
  const { rows } = await sql<Backlog['holds'][number]>`
    SELECT purpose, count(*)::integer AS count, sum(amount)::float8 AS credits,
      GREATEST(0, extract(epoch FROM now() - min(created_at)))::float8 AS "oldestAge"
    FROM (
      SELECT purpose, amount, created_at FROM holds WHERE status = 'open'
      ORDER BY created_at LIMIT ${MAX_COUNTED}
    ) AS open
    GROUP BY purpose
  `.execute(tx);
  return rows;
}

async function readJobs(tx: Tx): Promise<Backlog['jobs']> {
  const { rows } = await sql<Backlog['jobs'][number]>`
    SELECT kind, status, count(*)::integer AS count,
      GREATEST(0, extract(epoch FROM now() - min(created_at)))::float8 AS "oldestAge"
    FROM (
      SELECT kind, status, created_at FROM jobs WHERE ended_at IS NULL
      ORDER BY created_at LIMIT ${MAX_COUNTED}
    ) AS open
    GROUP BY kind, status
  `.execute(tx);
  return rows;
}

const PURPOSES = ['translation', 'ai_operation'] as const satisfies readonly HoldPurpose[];
/** States that open jobs of this version are in: their series are there before the first job is. */
const OPEN_STATES = ['QUEUED', 'TRANSLATING'] as const;

/**
 * A backlog as Prometheus text.
 * @param readAt when it was read
 */
export function renderBacklog(backlog: Backlog, readAt: Date): Promise<string> {
  const registry = new Registry();
  const gauge = <Label extends string = never>(
    name: string,
    help: string,
    ...labelNames: Label[]
  ): Gauge<Label> => new Gauge({ name, help, labelNames, registers: [registry] });

  const { outbox, handedOver, holds, jobs } = backlog;
  const open = gauge('webhook_deliveries_open', 'Deliveries that have not ended, by stage.', 'stage');
  open.set({ stage: 'outbox' }, outbox.fresh);
  open.set({ stage: 'outbox_retry' }, outbox.retries);
  open.set({ stage: 'first_attempt' }, handedOver.firstAttempts);
  open.set({ stage: 'retry' }, handedOver.retries);
  gauge(
    'webhook_outbox_oldest_age_seconds',
    'How long the oldest delivery not yet handed to Temporal has been due.',
  ).set(outbox.oldestAge);
  gauge('webhook_retry_oldest_overdue_seconds', 'How long the most overdue retry has been due.').set(
    handedOver.oldestOverdue,
  );

  const held = gauge('credit_holds_open', 'Holds that are neither settled nor released.', 'purpose');
  const credits = gauge('credit_holds_open_credits', 'Credits held by open holds.', 'purpose');
  const heldFor = gauge('credit_holds_oldest_age_seconds', 'Age of the oldest open hold.', 'purpose');
  for (const purpose of PURPOSES) {
    const found = holds.find((hold) => hold.purpose === purpose);
    held.set({ purpose }, found?.count ?? 0);
    credits.set({ purpose }, found?.credits ?? 0);
    heldFor.set({ purpose }, found?.oldestAge ?? 0);
  }

  const jobsOpen = gauge('jobs_open', 'Jobs that have not ended, by status.', 'kind', 'status');
  const oldestJob = gauge('jobs_oldest_age_seconds', 'Age of the oldest job that has not ended.', 'kind');
  for (const status of OPEN_STATES) jobsOpen.set({ kind: 'translation', status }, 0);
  const ages = new Map([['translation', 0]]);
  for (const { kind, status, count, oldestAge } of jobs) {
    jobsOpen.set({ kind, status }, count);
    ages.set(kind, Math.max(ages.get(kind) ?? 0, oldestAge));
  }
  for (const [kind, age] of ages) oldestJob.set({ kind }, age);

  gauge('database_metrics_read_timestamp_seconds', 'When these figures were read, as Unix time.').set(
    readAt.getTime() / 1_000,
  );
  return registry.metrics();
}
