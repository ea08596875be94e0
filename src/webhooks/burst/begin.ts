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
 * The CASE keeps Postgres to the primary key: the conditions as they are would lead it to an index of all that is
 * open, which it believes to be short.
 */
export async function beginAttempts(
  db: Database,
  burstId: BurstId,
  deliveryIds: readonly DeliveryId[],
): Promise<Beginning[]> {
  const { rows } = await sql<{ id: DeliveryId; secret: string }>`
    UPDATE webhook_deliveries AS delivery
    SET begun_at = coalesce(delivery.begun_at, now())
    FROM webhook_endpoints AS endpoint
    WHERE delivery.id = ANY (${[...deliveryIds]}::uuid[])
      AND CASE WHEN delivery.burst_id = ${burstId} AND NOT delivery.outbox AND delivery.attempts = 0
        AND delivery.ended_at IS NULL THEN true ELSE false END
      AND endpoint.id = delivery.endpoint_id AND endpoint.active
    RETURNING delivery.id, endpoint.secret
  `.execute(db);
  const secrets = new Map(rows.map(({ id, secret }) => [id, secret]));
  return Promise.all(
    deliveryIds.map(async (id): Promise<Beginning> => {
      const secret = secrets.get(id);
      if (secret !== undefined) return { kind: 'begun', secret };
      const reason = reasonToStop(await readDelivery(db, id));
      return reason === null ? { kind: 'taken' } : { kind: 'stopped', reason };
    }),
  );
}
