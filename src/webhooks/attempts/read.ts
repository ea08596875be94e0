import type { Database } from '../../db/database.ts';
import type { DeliveryId } from '../../ids.ts';

/** Everything an attempt needs, as of now. The secret stays in the process that signs. */
export interface DeliveryToSend {
  readonly attempts: number;
  readonly ended: boolean;
  readonly active: boolean;
  readonly url: string;
  readonly secret: string;
  readonly eventType: string;
  readonly createdAt: Date;
  readonly body: Buffer;
}

/** Undefined when the delivery is gone, as it is once its endpoint was deleted. */
export async function readDelivery(
  db: Database,
  deliveryId: DeliveryId,
): Promise<DeliveryToSend | undefined> {
  const row = await db
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('webhook_endpoints as endpoint', 'endpoint.id', 'delivery.endpoint_id')
    .innerJoin('events as event', 'event.id', 'delivery.event_id')
    .select([
      'delivery.attempts',
      'delivery.ended_at',
      'delivery.event_type',
      'delivery.created_at',
      'endpoint.active',
      'endpoint.url',
      'endpoint.secret',
      'event.body',
    ])
    .where('delivery.id', '=', deliveryId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    attempts: row.attempts,
    ended: row.ended_at !== null,
    active: row.active,
    url: row.url,
    secret: row.secret,
    eventType: row.event_type,
    createdAt: row.created_at,
    body: row.body,
  };
}

export const ENDPOINT_DELETED = 'endpoint deleted';
export const ENDPOINT_DISABLED = 'endpoint disabled';

/** Why nothing may be sent for this delivery any more; null when it may. */
export function reasonToStop(delivery: Pick<DeliveryToSend, 'ended' | 'active'> | undefined): string | null {
  if (delivery === undefined) return ENDPOINT_DELETED;
  if (delivery.ended) return 'delivery ended';
  if (!delivery.active) return ENDPOINT_DISABLED;
  return null;
}
