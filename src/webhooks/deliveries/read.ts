import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { LoggedAttempt } from '../../db/tables.ts';
import type { DeliveryId, EndpointId } from '../../ids.ts';
import { requireEndpoint } from '../endpoints/queries.ts';
import type { OpenDelivery, WebhookDeliveryDetail } from '../schemas.ts';
import { type DeliveryRow, deliveryOf, FROM_OPEN, noSuchDelivery, toOpenDelivery } from './queries.ts';

/**
 * One delivery with its body and every attempt so far, from one snapshot (integrations.read).
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function readDeliveryDetail(
  { db, actor }: VerbContext,
  deliveryId: DeliveryId,
): Promise<WebhookDeliveryDetail> {
  requirePermissions(actor, 'integrations.read');
  const { rows } = await sql<DeliveryRow & { attempt_log: LoggedAttempt[]; body: Buffer }>`
    SELECT delivery.*, event.body FROM (${deliveryOf(actor.workspaceId, deliveryId)}) AS delivery
    JOIN events AS event ON event.id = delivery.event_id AND event.created_at = delivery.event_created_at
  `.execute(db);
  const [row] = rows;
  if (row === undefined) throw noSuchDelivery();
  return { ...toOpenDelivery(row), body: row.body.toString('utf8'), attemptLog: row.attempt_log };
}

/** Open deliveries of one list. */
const MAX_LISTED = 100;

/**
 * The open deliveries of an endpoint, the earliest due first (integrations.read),
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
    ORDER BY due_at, uuid_send(id) LIMIT ${MAX_LISTED}`.execute(db);
  return rows.map(toOpenDelivery);
}
