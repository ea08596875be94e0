import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { afterCommit, inTransaction } from '../../db/transaction.ts';
import { deliveriesStored } from '../../events/stored.ts';
import type { DeliveryId } from '../../ids.ts';
import { lockActiveEndpoint } from '../endpoints/queries.ts';
import { type DeliveryItem, insertRedelivery, noSuchDelivery, selectSummary } from './queries.ts';

/**
 * Queues a delivery's event to its endpoint again, whatever its status: a new delivery with a new id, the same body and
 * all six attempts (contract.md W16 and W17).
 * @throws {ServiceError} RESOURCE_NOT_FOUND, also when the event is no longer kept, or CONFLICT `endpoint_disabled`
 */
export async function redeliver(context: VerbContext, deliveryId: DeliveryId): Promise<DeliveryItem> {
  const { db, actor } = context;
  requirePermissions(actor, 'integrations.create');
  return inTransaction(db, async (tx) => {
    const delivery = await selectSummary(tx, actor.workspaceId, deliveryId);
    if (delivery === undefined) throw noSuchDelivery();
    const { endpointId } = delivery;
    await lockActiveEndpoint(tx, actor.workspaceId, endpointId);
    const queued = await insertRedelivery(tx, actor.workspaceId, deliveryId);
    if (queued === undefined) throw noSuchDelivery();
    afterCommit(tx, deliveriesStored.notify);
    await recordAudit(tx, context, {
      action: 'webhooks.redelivered',
      targetType: 'webhook_delivery',
      targetId: deliveryId,
      details: { endpointId, newDeliveryId: queued.id },
    });
    return queued;
  });
}
