import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { BurstId, DeliveryId, EndpointId } from '../../ids.ts';
import { OPEN_FIRST_ATTEMPTS, OPEN_IN_A_BURST, OPEN_SECONDS, whileClaiming } from '../outbox/limits.ts';
import { endpointsWith } from '../outbox/skip-scan.ts';

/** A delivery with everything its first attempt needs but the secret, which is read when it begins. */
export interface BurstDelivery {
  readonly id: DeliveryId;
  readonly endpointId: EndpointId;
  readonly eventType: string;
  readonly url: string;
  readonly body: Buffer;
  readonly createdAt: Date;
  /** False when its endpoint is disabled: it ends without an attempt. */
  readonly active: boolean;
}

export interface BurstClaim {
  /** How many to take at most. */
  readonly most: number;
  /** Endpoints to take nothing of. */
  readonly without: readonly EndpointId[];
  /** How many to take of an endpoint at most; of all others, what a first look at their receivers needs. */
  readonly limits: ReadonlyMap<EndpointId, number>;
}

/**
 * Takes the oldest fresh deliveries out of the outbox for a burst, as many of each endpoint as its share is. In
 * this one statement they become the burst's: from here on it records them or hands them back. What a relay has
 * leased once is left to relays, since a run of its own may exist.
 *
 * An endpoint is passed over while its other first attempts, in runs of their own or in other bursts, leave no room
 * for those of a whole burst.
 */
export async function claimBurst(
  db: Database,
  burstId: BurstId,
  { most, without, limits }: BurstClaim,
): Promise<BurstDelivery[]> {
  return whileClaiming(db, async (tx) => {
    const { rows } = await sql<BurstDelivery>`
      WITH RECURSIVE waiting (endpoint_id) AS (${endpointsWith('waiting', sql<boolean>`outbox AND attempts = 0`)}
      ), open AS (
        SELECT waiting.endpoint_id,
          (SELECT count(*) FILTER (WHERE d.burst_id IS NULL)
             + ${OPEN_IN_A_BURST} * count(DISTINCT d.burst_id) FILTER (WHERE d.burst_id <> ${burstId})
           FROM webhook_deliveries d WHERE d.endpoint_id = waiting.endpoint_id
           AND d.attempts = 0 AND d.ended_at IS NULL AND NOT d.outbox
           AND d.handed_over_at > now() - make_interval(secs => ${OPEN_SECONDS}))
          + (SELECT count(*) FROM webhook_deliveries d WHERE d.endpoint_id = waiting.endpoint_id
           AND d.outbox AND d.claimed_until > now()) AS attempts
        FROM waiting WHERE endpoint_id IS NOT NULL AND endpoint_id <> ALL (${[...without]}::uuid[])
      ), own_limit AS (
        SELECT * FROM unnest(${[...limits.keys()]}::uuid[], ${[...limits.values()]}::integer[])
          AS own_limit (endpoint_id, most)
      ), roomy AS (
        SELECT endpoint_id, least(
          greatest(${OPEN_IN_A_BURST}, ${most} / count(*) OVER ()),
          coalesce((SELECT own_limit.most FROM own_limit WHERE own_limit.endpoint_id = open.endpoint_id),
            ${OPEN_FIRST_ATTEMPTS})) AS share
        FROM open WHERE attempts <= ${OPEN_FIRST_ATTEMPTS - OPEN_IN_A_BURST}
      ), picked AS (
        SELECT next.id FROM roomy CROSS JOIN LATERAL (
          SELECT id, seq FROM webhook_deliveries d
          WHERE d.outbox AND d.attempts = 0 AND d.endpoint_id = roomy.endpoint_id AND d.claimed_until IS NULL
          ORDER BY d.seq
          LIMIT roomy.share
        ) AS next
        ORDER BY row_number() OVER (PARTITION BY roomy.endpoint_id ORDER BY next.seq), next.seq
        LIMIT ${most}
      ), locked AS MATERIALIZED (
        SELECT id FROM webhook_deliveries WHERE id IN (SELECT id FROM picked) FOR UPDATE SKIP LOCKED
      )
      UPDATE webhook_deliveries AS delivery
      SET outbox = false, handed_over_at = now(), burst_id = ${burstId}, begun_at = NULL
      FROM locked, webhook_endpoints AS endpoint, events AS event
      WHERE delivery.id = locked.id AND delivery.outbox
        AND endpoint.id = delivery.endpoint_id AND event.id = delivery.event_id
      RETURNING delivery.id, delivery.endpoint_id AS "endpointId", delivery.event_type AS "eventType",
        endpoint.url, event.body, delivery.created_at AS "createdAt", endpoint.active
    `.execute(tx);
    return rows;
  });
}
