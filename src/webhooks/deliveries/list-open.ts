import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { EndpointId } from '../../ids.ts';
import { requireEndpoint } from '../endpoints/queries.ts';
import type { OpenDelivery } from '../schemas.ts';
import { type DeliveryRow, FROM_OPEN, toOpenDelivery } from './queries.ts';

const MOST = 100;

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
  const { rows } = await sql<DeliveryRow>`
    ${FROM_OPEN} WHERE endpoint_id = ${endpointId} AND workspace_id = ${actor.workspaceId}
    ORDER BY due_at, uuid_send(id) LIMIT ${MOST}`.execute(db);
  return rows.map(toOpenDelivery);
}
