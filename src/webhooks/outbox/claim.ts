import { sql } from 'kysely';
import type { Database, Tx } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DeliveryId, EndpointId, WorkspaceId } from '../../ids.ts';
import { OPEN_FIRST_ATTEMPTS, OPEN_SECONDS } from './limits.ts';
import { endpointsWith } from './skip-scan.ts';

/** A claim is a lease: a relay that dies lets go of its rows after this long. */
const LEASE_SECONDS = 30;
/**
 * Starts of one endpoint that one relay has under way at once. More would not be faster, and whoever comes next would
 * stand behind them at the Temporal server. Leases that a lost relay holds do not count here.
 */
const OPEN_STARTS = 5;

/** The same for retries that are not due yet: their starts are early, and must not stand before fresh ones. */
const OPEN_EARLY_STARTS = 1;

export interface ClaimedDelivery {
  readonly id: DeliveryId;
  readonly workspace_id: WorkspaceId;
  readonly endpoint_id: EndpointId;
  readonly event_type: string;
  readonly attempts: number;
  readonly next_attempt_at: Date | null;
  readonly url: string;
  readonly article_id: string | null;
  readonly request_id: string | null;
}

export interface ClaimOptions {
  /** How many to lease at most; 50 when left out. */
  readonly most?: number;
  /** How many starts the caller has under way already, by endpoint. */
  readonly starting?: ReadonlyMap<EndpointId, number>;
  /** Leaves what was never leased and never sent to the bursts. */
  readonly beside?: 'bursts' | 'nothing';
}

/**
 * Leases waiting deliveries, a few of each endpoint, so that one endpoint's backlog never stands before another's;
 * those whose endpoint has the least under way come first. There are three kinds: fresh ones, the oldest first;
 * those whose lease is over, because their start failed or their relay was lost; and retries. Endpoints are found by
 * skipping along an index of each kind, so a round costs what it claims, however long the backlog is.
 */
export async function claimDeliveries(tx: Tx, options: ClaimOptions = {}): Promise<ClaimedDelivery[]> {
  const { most = 50, starting = new Map<EndpointId, number>(), beside = 'nothing' } = options;
  const { rows } = await sql<ClaimedDelivery>`
    WITH RECURSIVE fresh (endpoint_id) AS (${endpointsWith('fresh', sql<boolean>`outbox AND attempts = 0`)}
    ), leased (endpoint_id) AS (${endpointsWith('leased', sql<boolean>`outbox AND claimed_until IS NOT NULL`)}
    ), retrying (endpoint_id) AS (${endpointsWith('retrying', sql<boolean>`outbox AND attempts > 0`)}
    ), starting AS (
      SELECT * FROM unnest(${[...starting.keys()]}::uuid[], ${[...starting.values()]}::integer[])
        AS starting (endpoint_id, count)
    ), under_way AS (
      SELECT endpoint_id,
        (SELECT count(*) FROM webhook_deliveries d WHERE d.endpoint_id = fresh.endpoint_id
         AND d.attempts = 0 AND d.ended_at IS NULL AND NOT d.outbox
         AND d.handed_over_at > now() - make_interval(secs => ${OPEN_SECONDS}))
        + (SELECT count(*) FROM webhook_deliveries d WHERE d.endpoint_id = fresh.endpoint_id
         AND d.outbox AND d.claimed_until > now()) AS open
      FROM fresh WHERE endpoint_id IS NOT NULL AND ${beside === 'nothing'}
    ), any_kind AS (
      SELECT next.id, open + row_number() OVER (PARTITION BY endpoint_id ORDER BY next.seq) AS rank
      FROM under_way CROSS JOIN LATERAL (
        SELECT id, seq FROM webhook_deliveries d
        WHERE d.outbox AND d.attempts = 0 AND d.endpoint_id = under_way.endpoint_id AND d.claimed_until IS NULL
        ORDER BY d.seq
        LIMIT greatest(0, least(
          least(${OPEN_STARTS}::integer, greatest(1, (${OPEN_FIRST_ATTEMPTS}::integer - open) / 4))
            - coalesce((SELECT count FROM starting WHERE starting.endpoint_id = under_way.endpoint_id), 0),
          ${OPEN_FIRST_ATTEMPTS}::integer - open))
      ) AS next
      UNION ALL
      SELECT next.id, row_number() OVER (PARTITION BY endpoint_id ORDER BY next.claimed_until)
      FROM leased CROSS JOIN LATERAL (
        SELECT id, claimed_until FROM webhook_deliveries d
        WHERE d.outbox AND d.endpoint_id = leased.endpoint_id AND d.claimed_until <= now()
          AND (d.start_not_before IS NULL OR d.start_not_before <= now())
        ORDER BY d.claimed_until
        LIMIT greatest(0, ${OPEN_STARTS}::integer
          - coalesce((SELECT count FROM starting WHERE starting.endpoint_id = leased.endpoint_id), 0))
      ) AS next
      WHERE endpoint_id IS NOT NULL
      UNION ALL
      SELECT next.id, row_number() OVER (PARTITION BY endpoint_id ORDER BY next.next_attempt_at)
      FROM retrying CROSS JOIN LATERAL (
        SELECT id, next_attempt_at FROM webhook_deliveries d
        WHERE d.outbox AND d.attempts > 0 AND d.endpoint_id = retrying.endpoint_id AND d.claimed_until IS NULL
        ORDER BY d.next_attempt_at
        LIMIT greatest(0,
          CASE WHEN (SELECT min(next_attempt_at) FROM webhook_deliveries d
                     WHERE d.outbox AND d.attempts > 0 AND d.endpoint_id = retrying.endpoint_id) <= now()
            THEN ${OPEN_STARTS}::integer ELSE ${OPEN_EARLY_STARTS}::integer END
          - coalesce((SELECT count FROM starting WHERE starting.endpoint_id = retrying.endpoint_id), 0))
      ) AS next
      WHERE endpoint_id IS NOT NULL
    ), chosen AS (
      SELECT id FROM any_kind ORDER BY rank LIMIT ${most}
    ), locked AS MATERIALIZED (
      SELECT id FROM webhook_deliveries WHERE id IN (SELECT id FROM chosen) FOR UPDATE SKIP LOCKED
    )
    UPDATE webhook_deliveries AS delivery
    SET claimed_until = now() + make_interval(secs => ${LEASE_SECONDS})
    FROM locked, webhook_endpoints AS endpoint, events AS event
    WHERE delivery.id = locked.id AND delivery.outbox
      AND endpoint.id = delivery.endpoint_id AND event.id = delivery.event_id
    RETURNING delivery.id, delivery.workspace_id, delivery.endpoint_id, delivery.event_type,
      delivery.attempts, delivery.next_attempt_at, endpoint.url, event.article_id, event.request_id
  `.execute(tx);
  return rows;
}

/** Takes started deliveries out of the outbox: from here on they are their runs'. */
export async function markHandedOver(db: Database, ids: readonly DeliveryId[]): Promise<void> {
  if (ids.length === 0) return;
  const update = sql`
    UPDATE webhook_deliveries
    SET outbox = false, claimed_until = NULL, start_failures = 0, start_not_before = NULL, handed_over_at = now()
    WHERE id = ANY (${ids}::uuid[]) AND outbox
  `;
  // A deletion that has waited a second for these rows waits inside Postgres then: either may be a deadlock's victim.
  await inTransaction(db, (tx) => update.execute(tx));
}

/**
 * Gives deliveries whose start failed back, each to be tried again after a wait of its own: 1 s doubling to 1 min.
 * The end of their lease stays on them: a start that seemed to fail may have made a run, so no burst may have them.
 */
export async function backOff(db: Database, ids: readonly DeliveryId[]): Promise<void> {
  if (ids.length === 0) return;
  const update = sql`
    UPDATE webhook_deliveries
    SET claimed_until = now(), start_failures = start_failures + 1,
      start_not_before = now() + make_interval(secs => LEAST(60, power(2, LEAST(start_failures, 6))))
    WHERE id = ANY (${ids}::uuid[]) AND outbox
  `;
  await inTransaction(db, (tx) => update.execute(tx));
}
