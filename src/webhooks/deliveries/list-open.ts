import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { EndpointId } from '../../ids.ts';
import { requireEndpoint } from '../endpoints/queries.ts';
import type { OpenDelivery } from '../schemas.ts';
import { type DeliveryRow, FROM_OPEN, toOpenDelivery } from './queries.ts';

const MAX_LISTED = 100;

/**
 * Up to 100 open deliveries of an endpoint, the earliest due first (integrations.read).
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function listOpenDeliveries(
  { db, actor }: VerbContext,
  endpointId: EndpointId,
): Promise<OpenDelivery[]> {
  requirePermissions(actor, 'integrations.read');
  await requireEndpoint(db, actor.workspaceId, endpointId);
  const { rows } = await sql<DeliveryRow>`
    ${FROM_OPEN} WHERE endpoint_id = ${endpointId} AND workspace_id = ${actor.workspaceId}
    ORDER BY due_at, uuid_send(id) LIMIT ${MAX_LISTED}`.execute(db);
  return rows.map(toOpenDelivery);
}
