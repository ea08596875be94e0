import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { BurstId, DeliveryId } from '../../ids.ts';
import { reasonToStop } from '../attempts/read.ts';

/** Whether the request may be written now: the last look at the row before it is. */
export type Beginning =
  | { readonly kind: 'begun'; readonly secret: string }
  /** The delivery ends without an attempt. */
  | { readonly kind: 'stopped'; readonly reason: string }
  /** Somebody handed the delivery back meanwhile: another run will send it. */
  | { readonly kind: 'taken' }
  /** Somebody holds the row, as the deletion of an endpoint does: to be asked again. */
  | { readonly kind: 'locked' };

interface Row {
  readonly id: DeliveryId;
  readonly ours: boolean;
  readonly ended: boolean;
  readonly active: boolean;
}

/**
 * Marks first attempts as begun, right before their requests are written: those whose delivery is still the
 * burst's and whose endpoint is there and active. Called once more for a redirect, it is the look alone. It waits for
 * no lock, so that no endpoint's attempts stand still because of another's deletion.
 *
 * The CASE keeps Postgres to the primary key: the conditions as they are would lead it to an index of all that is
 * open, which it believes to be short.
 */
export async function beginAttempts(
  db: Database,
  burstId: BurstId,
  deliveryIds: readonly DeliveryId[],
): Promise<Beginning[]> {
  const ids = [...deliveryIds];
  const begun = await sql<{ id: DeliveryId; secret: string }>`
    WITH free AS MATERIALIZED (
      SELECT id FROM webhook_deliveries WHERE id = ANY (${ids}::uuid[]) FOR NO KEY UPDATE SKIP LOCKED
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
  const secrets = new Map(begun.rows.map(({ id, secret }) => [id, secret]));
  const others = await lookAt(
    db,
    burstId,
    ids.filter((id) => !secrets.has(id)),
  );
  return ids.map((id) => {
    const secret = secrets.get(id);
    return secret === undefined ? judge(others.get(id)) : { kind: 'begun', secret };
  });
}

async function lookAt(
  db: Database,
  burstId: BurstId,
  ids: readonly DeliveryId[],
): Promise<Map<DeliveryId, Row>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<Row>`
    SELECT delivery.id, endpoint.active, delivery.ended_at IS NOT NULL AS ended,
      delivery.burst_id IS NOT DISTINCT FROM ${burstId} AND NOT delivery.outbox AND delivery.attempts = 0 AS ours
    FROM webhook_deliveries AS delivery JOIN webhook_endpoints AS endpoint ON endpoint.id = delivery.endpoint_id
    WHERE delivery.id = ANY (${[...ids]}::uuid[])
  `.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

function judge(row: Row | undefined): Beginning {
  if (row !== undefined && !row.ended && !row.ours) return { kind: 'taken' };
  const reason = reasonToStop(row);
  return reason === null ? { kind: 'locked' } : { kind: 'stopped', reason };
}
