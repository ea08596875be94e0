import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { DeliveryId, EndpointId, WorkspaceId } from '../../ids.ts';

/** First attempts of one endpoint that are open at once. */
const OPEN_FIRST_ATTEMPTS = 20;
/** A first attempt that began longer ago no longer counts as open: it hangs, and must not hold others back for ever. */
const OPEN_SECONDS = 30;
/** A claim is a lease: a relay that dies lets go of its rows after this long. */
const LEASE_SECONDS = 30;
/**
 * Starts of one endpoint that one relay has under way at once. More would not be faster, and whoever comes next would
 * stand behind them at the Temporal server. Leases that a lost relay holds do not count here.
 */
const OPEN_STARTS = 5;

/** Taken while claiming, so that two relays do not both count the same open attempts. */
const CLAIM_LOCK = 7_281_901;

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

/**
 * Leases the oldest waiting deliveries, a few of each endpoint, so that one endpoint's backlog never stands
 * before another's; those whose endpoint has the least under way come first. Endpoints are found by skipping
 * along the outbox's own index, so a round costs what it claims, however long the backlog is.
 * @param most how many to lease at most
 * @param starting how many starts the caller has under way already, by endpoint
 */
export async function claimDeliveries(
  db: Database,
  most = 50,
  starting: ReadonlyMap<EndpointId, number> = new Map(),
): Promise<ClaimedDelivery[]> {
  return db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(${CLAIM_LOCK})`.execute(tx);
    const { rows } = await sql<ClaimedDelivery>`
      WITH RECURSIVE waiting (endpoint_id) AS (
        (SELECT endpoint_id FROM webhook_deliveries WHERE outbox ORDER BY endpoint_id LIMIT 1)
        UNION ALL
        SELECT (SELECT endpoint_id FROM webhook_deliveries
                WHERE outbox AND endpoint_id > waiting.endpoint_id ORDER BY endpoint_id LIMIT 1)
        FROM waiting WHERE waiting.endpoint_id IS NOT NULL
      ), starting AS (
        SELECT * FROM unnest(${[...starting.keys()]}::uuid[], ${[...starting.values()]}::integer[])
          AS starting (endpoint_id, count)
      ), under_way AS (
        SELECT endpoint_id,
          coalesce((SELECT count FROM starting WHERE starting.endpoint_id = waiting.endpoint_id), 0) AS own_starts,
          (SELECT count(*) FROM webhook_deliveries d WHERE d.endpoint_id = waiting.endpoint_id
           AND d.attempts = 0 AND d.ended_at IS NULL AND NOT d.outbox
           AND d.handed_over_at > now() - make_interval(secs => ${OPEN_SECONDS})) AS attempts,
          (SELECT count(*) FROM webhook_deliveries d WHERE d.endpoint_id = waiting.endpoint_id
           AND d.outbox AND d.claimed_until > now()) AS starts
        FROM waiting WHERE endpoint_id IS NOT NULL
      ), picked AS (
        SELECT next.id FROM under_way CROSS JOIN LATERAL (
          SELECT id, seq FROM webhook_deliveries d
          WHERE d.outbox AND d.endpoint_id = under_way.endpoint_id
            AND (d.claimed_until IS NULL OR d.claimed_until <= now())
            AND (d.start_not_before IS NULL OR d.start_not_before <= now())
          ORDER BY d.seq
          LIMIT GREATEST(0, LEAST(
            ${OPEN_STARTS}::integer - under_way.own_starts,
            ${OPEN_FIRST_ATTEMPTS}::integer - under_way.starts - under_way.attempts))
          FOR UPDATE OF d SKIP LOCKED
        ) AS next
        ORDER BY under_way.starts + under_way.attempts
          + row_number() OVER (PARTITION BY under_way.endpoint_id ORDER BY next.seq), next.seq
        LIMIT ${most}
      )
      UPDATE webhook_deliveries AS delivery
      SET claimed_until = now() + make_interval(secs => ${LEASE_SECONDS})
      FROM picked, webhook_endpoints AS endpoint, events AS event
      WHERE delivery.id = picked.id AND delivery.outbox
        AND endpoint.id = delivery.endpoint_id AND event.id = delivery.event_id
      RETURNING delivery.id, delivery.workspace_id, delivery.endpoint_id, delivery.event_type,
        delivery.attempts, delivery.next_attempt_at, endpoint.url, event.article_id, event.request_id
    `.execute(tx);
    return rows;
  });
}

/** Takes started deliveries out of the outbox: from here on they are their runs'. */
export async function markHandedOver(db: Database, ids: readonly DeliveryId[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    UPDATE webhook_deliveries
    SET outbox = false, claimed_until = NULL, start_failures = 0, start_not_before = NULL, handed_over_at = now()
    WHERE id = ANY (${ids}::uuid[]) AND outbox
  `.execute(db);
}

/** Gives deliveries whose start failed back, each to be tried again after a wait of its own: 1 s doubling to 1 min. */
export async function backOff(db: Database, ids: readonly DeliveryId[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    UPDATE webhook_deliveries
    SET claimed_until = NULL, start_failures = start_failures + 1,
      start_not_before = now() + make_interval(secs => LEAST(60, power(2, LEAST(start_failures, 6))))
    WHERE id = ANY (${ids}::uuid[]) AND outbox
  `.execute(db);
}
