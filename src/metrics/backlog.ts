import { type RawBuilder, sql } from 'kysely';
import type { HoldPurpose } from '../credits/holds.ts';
import type { Database, Tx } from '../db/database.ts';
import { endpointsWith } from '../webhooks/outbox/skip-scan.ts';

/** Rows that are counted at most, of each kind: a longer backlog is told as this many. */
export const MOST_COUNTED = 10_000;
/** Endpoints with waiting deliveries that are looked at for the oldest one. */
const MOST_ENDPOINTS = 1_000;
/** Milliseconds after which Postgres ends any one of these statements. */
const STATEMENT_TIMEOUT_MS = 1_000;

/** What waits, as the database knows it. Ages are in seconds, 0 when nothing waits. */
export interface Backlog {
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
      SELECT due FROM (SELECT endpoint_id FROM waiting WHERE endpoint_id IS NOT NULL LIMIT ${MOST_ENDPOINTS}) AS found
      CROSS JOIN LATERAL (
        SELECT GREATEST(created_at, next_attempt_at) AS due FROM webhook_deliveries
        WHERE ${rows} AND webhook_deliveries.endpoint_id = found.endpoint_id
        ORDER BY ${order} LIMIT 1
      ) AS oldest
    ), counted AS (
      SELECT FROM webhook_deliveries WHERE ${rows} ORDER BY endpoint_id, ${order} LIMIT ${MOST_COUNTED}
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
      ORDER BY next_attempt_at LIMIT ${MOST_COUNTED}
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
      ORDER BY created_at LIMIT ${MOST_COUNTED}
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
      ORDER BY created_at LIMIT ${MOST_COUNTED}
    ) AS open
    GROUP BY kind, status
  `.execute(tx);
  return rows;
}
