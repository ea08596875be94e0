import { sql } from 'kysely';
import { Gauge, Registry } from 'prom-client';
import type { Database, Tx } from '../db/database.ts';
import { HOLD_PURPOSES, type HoldPurpose } from '../db/tables.ts';
import { isClaimable, isHeard, isLiving } from '../webhooks/deliveries/states.ts';
import { isInForce } from '../webhooks/pace/pace.ts';

/** Rows counted of each kind; a longer backlog is reported as this many. */
const MAX_COUNTED = 10_000;
/** Endpoints with waiting deliveries that are read for the oldest one. */
const MAX_ENDPOINTS = 1_000;
/** Time limit of each of these statements in Postgres, in milliseconds. */
const STATEMENT_TIMEOUT_MS = 1_000;

/** The backlog in the database. Ages are in seconds, 0 when nothing waits. */
interface Backlog {
  /** Free deliveries. The age counts from when the oldest that waits for a worker was due. */
  readonly free: { readonly fresh: number; readonly retries: number; readonly oldestAge: number };
  /** Deliveries held by bursts. */
  readonly inBursts: { readonly firstAttempts: number; readonly retries: number };
  /** Deliveries in runs of their own. */
  readonly inRuns: {
    readonly firstAttempts: number;
    readonly retries: number;
    /** How long the most overdue retry has been due. */
    readonly oldestOverdue: number;
  };
  /** Events without a number; the age counts from when the oldest was stored. */
  readonly queuedEvents: { readonly count: number; readonly oldestAge: number };
  /** Endpoints whose deliveries are queued from the log. */
  readonly behind: number;
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
  /** How long the rows of the deleted workspace that is emptied longest have been removed. */
  readonly emptyingAge: number;
}

/**
 * Reads the backlog along indexes that hold nothing else, a bounded number of rows of each kind: the cost does not grow
 * with the tables. The planner gets no choice, since statistics made during a backlog would mislead it later.
 */
export const readBacklog = (db: Database): Promise<Backlog> =>
  db
    .transaction()
    .setAccessMode('read only')
    .execute(async (tx) => {
      await sql`SELECT set_config('statement_timeout', ${String(STATEMENT_TIMEOUT_MS)}, true),
        set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`.execute(tx);
      return {
        ...(await readWaiting(tx)),
        inRuns: await readInRuns(tx),
        queuedEvents: await readQueuedEvents(tx),
        behind: await readBehind(tx),
        holds: await readHolds(tx),
        jobs: await readJobs(tx),
        emptyingAge: await readEmptyingAge(tx),
      };
    });

/**
 * Finds the oldest unclaimed delivery among the first of each endpoint, by skipping along the index as claims do. Those that
 * wait for no worker are left out: of deleted endpoints, of paused ones and of deleted and suspended workspaces (contract.md
 * L9), of an endpoint with a pace, and of one whose first due delivery is being sent, as with a receiver that hangs.
 */
async function readWaiting(tx: Tx): Promise<Pick<Backlog, 'free' | 'inBursts'>> {
  const { rows } = await sql<Backlog['free'] & { bursts: number; burstRetries: number }>`
    WITH RECURSIVE found (endpoint_id) AS (
      (SELECT endpoint_id FROM webhook_open ORDER BY endpoint_id LIMIT 1)
      UNION ALL
      SELECT (SELECT delivery.endpoint_id FROM webhook_open AS delivery
        WHERE delivery.endpoint_id > found.endpoint_id ORDER BY delivery.endpoint_id LIMIT 1)
      FROM found WHERE found.endpoint_id IS NOT NULL
    ), oldest AS (
      SELECT due_at FROM (SELECT endpoint_id FROM found WHERE endpoint_id IS NOT NULL LIMIT ${MAX_ENDPOINTS}) AS found
      JOIN webhook_endpoints AS endpoint ON endpoint.id = found.endpoint_id AND ${isLiving} AND ${isHeard}
      CROSS JOIN LATERAL (
        SELECT due_at, ${isClaimable} AS claimable FROM webhook_open AS delivery
        WHERE delivery.endpoint_id = found.endpoint_id ORDER BY due_at LIMIT 1
      ) AS first
      WHERE claimable AND NOT EXISTS (
        SELECT FROM webhook_paces AS pace WHERE pace.endpoint_id = found.endpoint_id AND ${isInForce()})
    ), counted AS (
      SELECT attempts > 0 AS retry, burst_id IS NOT NULL AS in_burst FROM webhook_open WHERE NOT in_run
      ORDER BY endpoint_id, due_at LIMIT ${MAX_COUNTED}
    )
    SELECT count(*) FILTER (WHERE NOT in_burst AND NOT retry)::integer AS fresh,
      count(*) FILTER (WHERE NOT in_burst AND retry)::integer AS retries,
      count(*) FILTER (WHERE in_burst AND NOT retry)::integer AS bursts,
      count(*) FILTER (WHERE in_burst AND retry)::integer AS "burstRetries",
      coalesce(GREATEST(0, (SELECT extract(epoch FROM now() - min(due_at)) FROM oldest)), 0)::float8 AS "oldestAge"
    FROM counted
  `.execute(tx);
  const { fresh, retries, oldestAge, bursts, burstRetries } = rows[0] ?? NOTHING;
  return { free: { fresh, retries, oldestAge }, inBursts: { firstAttempts: bursts, retries: burstRetries } };
}

const NOTHING = { fresh: 0, retries: 0, oldestAge: 0, bursts: 0, burstRetries: 0 };

async function readInRuns(tx: Tx): Promise<Backlog['inRuns']> {
  const { rows } = await sql<Backlog['inRuns']>`
    SELECT count(*) FILTER (WHERE attempts = 0)::integer AS "firstAttempts",
      count(*) FILTER (WHERE attempts > 0)::integer AS retries,
      coalesce(GREATEST(0, extract(epoch FROM now() - min(due_at) FILTER (WHERE attempts > 0 AND heard))), 0)::float8
        AS "oldestOverdue"
    FROM (
      SELECT attempts, due_at, (
        SELECT ${isHeard} FROM webhook_endpoints AS endpoint WHERE endpoint.id = delivery.endpoint_id) AS heard
      FROM webhook_open AS delivery WHERE in_run ORDER BY endpoint_id, due_at LIMIT ${MAX_COUNTED}
    ) AS open
  `.execute(tx);
  return rows[0] ?? { firstAttempts: 0, retries: 0, oldestOverdue: 0 };
}

async function readQueuedEvents(tx: Tx): Promise<Backlog['queuedEvents']> {
  const { rows } = await sql<Backlog['queuedEvents']>`
    SELECT count(*)::integer AS count,
      coalesce(GREATEST(0, extract(epoch FROM now() - min(event_created_at))), 0)::float8 AS "oldestAge"
    FROM (SELECT event_created_at FROM event_queue ORDER BY workspace_id, id LIMIT ${MAX_COUNTED}) AS queued
  `.execute(tx);
  return rows[0] ?? { count: 0, oldestAge: 0 };
}

async function readBehind(tx: Tx): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM (
      SELECT FROM webhook_backlogs ORDER BY endpoint_id LIMIT ${MAX_COUNTED}) AS behind`.execute(tx);
  return rows[0]?.count ?? 0;
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

async function readEmptyingAge(tx: Tx): Promise<number> {
  const { rows } = await sql<{ age: number }>`
    SELECT coalesce(GREATEST(0, extract(epoch FROM now() - min(emptying_since))), 0)::float8 AS age
    FROM (
      SELECT emptying_since FROM workspaces WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT ${MAX_COUNTED}
    ) AS deleted
  `.execute(tx);
  return rows[0]?.age ?? 0;
}

/** Series that exist before the first job. */
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

  const { free, inBursts, inRuns, queuedEvents, behind, holds, jobs, emptyingAge } = backlog;
  const open = gauge('webhook_deliveries_open', 'Open deliveries, by stage.', 'stage');
  open.set({ stage: 'outbox' }, free.fresh);
  open.set({ stage: 'outbox_retry' }, free.retries);
  open.set({ stage: 'first_attempt' }, inRuns.firstAttempts + inBursts.firstAttempts);
  open.set({ stage: 'retry' }, inRuns.retries + inBursts.retries);
  gauge('webhook_outbox_oldest_age_seconds', 'How long the oldest unclaimed delivery has been due.').set(
    free.oldestAge,
  );
  gauge(
    'webhook_retry_oldest_overdue_seconds',
    'How long the most overdue retry in a run of its own has been due.',
  ).set(inRuns.oldestOverdue);

  gauge('event_queue_length', 'Events that have no number in the log yet.').set(queuedEvents.count);
  gauge('event_queue_oldest_age_seconds', 'How long ago the oldest of them was stored.').set(
    queuedEvents.oldestAge,
  );

  gauge('webhook_endpoints_behind', 'Endpoints whose deliveries are queued from the event log.').set(behind);

  const held = gauge('credit_holds_open', 'Holds that are neither settled nor released.', 'purpose');
  const credits = gauge('credit_holds_open_credits', 'Credits held by open holds.', 'purpose');
  const heldFor = gauge('credit_holds_oldest_age_seconds', 'Age of the oldest open hold.', 'purpose');
  for (const purpose of HOLD_PURPOSES) {
    const found = holds.find((hold) => hold.purpose === purpose);
    held.set({ purpose }, found?.count ?? 0);
    credits.set({ purpose }, found?.credits ?? 0);
    heldFor.set({ purpose }, found?.oldestAge ?? 0);
  }

  const jobsOpen = gauge('jobs_open', 'Open jobs, by status.', 'kind', 'status');
  const oldestJob = gauge('jobs_oldest_age_seconds', 'Age of the oldest open job.', 'kind');
  for (const status of OPEN_STATES) jobsOpen.set({ kind: 'translation', status }, 0);
  const ages = new Map([['translation', 0]]);
  for (const { kind, status, count, oldestAge } of jobs) {
    jobsOpen.set({ kind, status }, count);
    ages.set(kind, Math.max(ages.get(kind) ?? 0, oldestAge));
  }
  for (const [kind, age] of ages) oldestJob.set({ kind }, age);

  gauge(
    'workspaces_emptying_oldest_age_seconds',
    'For how long rows of a deleted workspace have been removed.',
  ).set(emptyingAge);

  gauge('database_metrics_read_timestamp_seconds', 'When these figures were read, as Unix time.').set(
    readAt.getTime() / 1_000,
  );
  return registry.metrics();
}
