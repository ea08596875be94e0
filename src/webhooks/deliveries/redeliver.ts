import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type DeliveryId, newId } from '../../ids.ts';
import { lockActiveEndpoint } from '../endpoints/queries.ts';
import {
  type DeliveryItem,
  insertRedelivery,
  noSuchDelivery,
  notifyOutbox,
  selectEndpointOf,
} from './queries.ts';

/**
 * Sends a delivery's event to its endpoint once more, whatever became of it: a new delivery with an id of its
 * own, the same body and all six attempts.
 * @throws {ServiceError} RESOURCE_NOT_FOUND, or CONFLICT `endpoint_disabled`
 */
export async function redeliver(context: VerbContext, deliveryId: DeliveryId): Promise<DeliveryItem> {
  const { db, actor } = context;
  requirePermissions(actor, 'integrations.create');
  return inTransaction(db, async (tx) => {
    const endpointId = await selectEndpointOf(tx, actor.workspaceId, deliveryId);
    if (endpointId === undefined) throw noSuchDelivery();
    await lockActiveEndpoint(tx, actor.workspaceId, endpointId);
    const queued = await insertRedelivery(tx, deliveryId, newId<DeliveryId>());
    if (queued === undefined) throw noSuchDelivery();
    await notifyOutbox(tx);
    await recordAudit(tx, context, {
      action: 'webhooks.redelivered',
      targetType: 'webhook_delivery',
      targetId: deliveryId,
      details: { endpointId, newDeliveryId: queued.id },
    });
    return queued;
  });
}
