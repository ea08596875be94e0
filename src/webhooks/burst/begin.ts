import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { BurstId, DeliveryId } from '../../ids.ts';
import { readDelivery, reasonToStop } from '../delivery/read.ts';

/** Whether the request may be written now: the last look at the row before it is. */
export type Beginning =
  | { readonly kind: 'begun'; readonly secret: string }
  /** The delivery ends without an attempt. */
  | { readonly kind: 'stopped'; readonly reason: string }
  /** Somebody handed the delivery back meanwhile: another run will send it. */
  | { readonly kind: 'taken' };

/**
 * Marks first attempts as begun, right before their requests are written: those whose delivery is still the
 * burst's and whose endpoint is there and active. Called once more for a redirect, it is the look alone.
 *
 * What somebody else has locked, as the deletion of an endpoint does, is waited for one by one: never while a lock
 * is held.
 */
export async function beginAttempts(
  db: Database,
  burstId: BurstId,
  deliveryIds: readonly DeliveryId[],
): Promise<Beginning[]> {
  const secrets = await begin(db, burstId, deliveryIds, 'skip');
  const beginnings: Beginning[] = [];
  for (const id of deliveryIds) {
    const secret = secrets.get(id) ?? (await begin(db, burstId, [id], 'wait')).get(id);
    if (secret !== undefined) {
      beginnings.push({ kind: 'begun', secret });
      continue;
    }
    const reason = reasonToStop(await readDelivery(db, id));
    beginnings.push(reason === null ? { kind: 'taken' } : { kind: 'stopped', reason });
  }
  return beginnings;
}

/**
 * The CASE keeps Postgres to the primary key: the conditions as they are would lead it to an index of all that is
 * open, which it believes to be short.
 */
async function begin(
  db: Database,
  burstId: BurstId,
  deliveryIds: readonly DeliveryId[],
  locked: 'skip' | 'wait',
): Promise<Map<DeliveryId, string>> {
  const { rows } = await sql<{ id: DeliveryId; secret: string }>`
    WITH free AS MATERIALIZED (
      SELECT id FROM webhook_deliveries WHERE id = ANY (${[...deliveryIds]}::uuid[])
      FOR NO KEY UPDATE ${locked === 'skip' ? sql`SKIP LOCKED` : sql``}
    )
    UPDATE webhook_deliveries AS delivery
    SET begun_at = coalesce(delivery.begun_at, now())
    FROM free, webhook_endpoints AS endpoint
    WHERE delivery.id = free.id
      AND CASE WHEN delivery.burst_id = ${burstId} AND NOT delivery.outbox AND delivery.attempts = 0
        AND delivery.ended_at IS NULL THEN true ELSE false END
      AND endpoint.id = delivery.endpoint_id AND endpoint.active
    RETURNING delivery.id, endpoint.secret
  `.execute(db);
  return new Map(rows.map(({ id, secret }) => [id, secret]));
}
