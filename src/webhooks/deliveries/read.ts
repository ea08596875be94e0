import { requirePermissions, type VerbContext } from '../../context.ts';
import type { DeliveryId } from '../../ids.ts';
import type { WebhookDeliveryDetail } from '../schemas.ts';
import { noSuchDelivery, selectDelivery } from './queries.ts';

/**
 * One delivery of the workspace with the body it sends and every attempt so far (integrations.read).
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function readDeliveryDetail(
  { db, actor }: VerbContext,
  deliveryId: DeliveryId,
): Promise<WebhookDeliveryDetail> {
  requirePermissions(actor, 'integrations.read');
  const delivery = await selectDelivery(db, actor.workspaceId, deliveryId);
  if (delivery === undefined) throw noSuchDelivery();
  return delivery;
}
