import { requirePermissions, type VerbContext } from '../../context.ts';
import type { EndpointId } from '../../ids.ts';
import { requireEndpoint } from '../endpoints/queries.ts';
import type { OpenDelivery } from '../schemas.ts';
import { selectOpenDeliveries } from './queries.ts';

/**
 * The deliveries of an endpoint that have not ended (integrations.read), the one that is due first before the others,
 * 100 at most.
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function listOpenDeliveries(
  { db, actor }: VerbContext,
  endpointId: EndpointId,
): Promise<OpenDelivery[]> {
  requirePermissions(actor, 'integrations.read');
  await requireEndpoint(db, actor.workspaceId, endpointId);
  return selectOpenDeliveries(db, actor.workspaceId, endpointId);
}
