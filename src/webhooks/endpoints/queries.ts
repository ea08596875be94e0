import type { Queryable, Tx } from '../../db/database.ts';
import { conflict, notFound } from '../../errors.ts';
import type { EndpointId, WorkspaceId } from '../../ids.ts';

/** The receiver as audit entries and runs name it: paths and queries can carry tokens. */
export const receiverOf = (url: string): string => URL.parse(url)?.host ?? '';

export const noSuchEndpoint = () => notFound('webhook endpoint');

export const endpointDisabled = () =>
  conflict('The endpoint is disabled; nothing is sent to it.', 'endpoint_disabled');

/** A query for an endpoint of the workspace that is not deleted. */
export const livingEndpoint = (db: Queryable, workspaceId: WorkspaceId, endpointId: EndpointId) =>
  db
    .selectFrom('webhook_endpoints')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', endpointId)
    .where('deleted_at', 'is', null);

/** @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function requireEndpoint(
  db: Queryable,
  workspaceId: WorkspaceId,
  endpointId: EndpointId,
): Promise<void> {
  await livingEndpoint(db, workspaceId, endpointId).select('id').executeTakeFirstOrThrow(noSuchEndpoint);
}

/**
 * Locks an endpoint before deliveries are queued for it: it stays active until the transaction ends, and two
 * redeliveries see each other's rows. Recording events is not blocked.
 * @throws {ServiceError} RESOURCE_NOT_FOUND, or CONFLICT `endpoint_disabled`
 */
export async function lockActiveEndpoint(
  tx: Tx,
  workspaceId: WorkspaceId,
  endpointId: EndpointId,
): Promise<void> {
  const { active } = await livingEndpoint(tx, workspaceId, endpointId)
    .select('active')
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow(noSuchEndpoint);
  if (!active) throw endpointDisabled();
}
