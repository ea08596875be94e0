import type { Queryable, Tx } from '../../db/database.ts';
import { conflict, notFound } from '../../errors.ts';
import { iso } from '../../fields.ts';
import type { EndpointId, WorkspaceId } from '../../ids.ts';
import type { WebhookEndpoint } from '../schemas.ts';

/** An endpoint on the wire, with the event names that its registration checked. */
export interface EndpointItem extends Omit<WebhookEndpoint, 'events'> {
  readonly events: string[];
}

/** Every living endpoint of the workspace, oldest first, without the secrets. */
export async function selectEndpoints(db: Queryable, workspaceId: WorkspaceId): Promise<EndpointItem[]> {
  const rows = await db
    .selectFrom('webhook_endpoints')
    .select(['id', 'url', 'events', 'active', 'created_at', 'description'])
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(({ created_at, ...row }) => ({ ...row, createdAt: iso(created_at) }));
}

/** The receiver as an audit entry may name it: paths and queries can carry tokens. */
export const receiverOf = (url: string): string => URL.parse(url)?.host ?? '';

export const noSuchEndpoint = () => notFound('webhook endpoint');

export const endpointDisabled = () =>
  conflict('The endpoint is disabled; nothing is sent to it.', 'endpoint_disabled');

/** @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function requireEndpoint(
  db: Queryable,
  workspaceId: WorkspaceId,
  endpointId: EndpointId,
): Promise<void> {
  const endpoint = await db
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', endpointId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (endpoint === undefined) throw noSuchEndpoint();
}

/**
 * Locks an endpoint that something is to be queued for, so that it is neither disabled nor deleted before the
 * transaction ends, and so that two redeliveries of one endpoint see each other's rows. Recording events goes on.
 * @throws {ServiceError} RESOURCE_NOT_FOUND, or CONFLICT `endpoint_disabled`
 */
export async function lockActiveEndpoint(
  tx: Tx,
  workspaceId: WorkspaceId,
  endpointId: EndpointId,
): Promise<void> {
  const endpoint = await tx
    .selectFrom('webhook_endpoints')
    .select('active')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', endpointId)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (endpoint === undefined) throw noSuchEndpoint();
  if (!endpoint.active) throw endpointDisabled();
}
