import { sql } from 'kysely';
import type { Queryable } from '../../db/database.ts';
import { iso } from '../../fields.ts';
import type { EndpointId, WorkspaceId } from '../../ids.ts';
import type { WebhookEndpoint } from '../schemas.ts';
import { noSuchEndpoint } from './queries.ts';

/** Names are as they were registered: a later release may know more of them. */
export type ShownEndpoint = Omit<WebhookEndpoint, 'events'> & { readonly events: readonly string[] };

/** A query for living endpoints of a workspace as lists show them. */
const shown = (db: Queryable, workspaceId: WorkspaceId) =>
  db
    .selectFrom('webhook_endpoints')
    .select(['id', 'url', 'events', 'active', 'description'])
    .select([
      'created_at as createdAt',
      'paused_at as pausedAt',
      'rate_limit as rateLimit',
      'header_names as headers',
    ])
    .select(
      sql<Date | null>`CASE WHEN rotation_ends_at > now() THEN rotation_ends_at END`.as('rotationEndsAt'),
    )
    .select(
      sql<
        WebhookEndpoint['disabledFor']
      >`CASE WHEN NOT active THEN coalesce(disabled_for, 'operator') END`.as('disabledFor'),
    )
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null);

type Row = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>;

const toEndpoint = (row: Row): ShownEndpoint => ({
  ...row,
  createdAt: iso(row.createdAt),
  pausedAt: iso(row.pausedAt),
  rotationEndsAt: iso(row.rotationEndsAt),
});

/** The living endpoints of a workspace, oldest first and without secrets. */
export async function selectEndpoints(db: Queryable, workspaceId: WorkspaceId): Promise<ShownEndpoint[]> {
  const rows = await shown(db, workspaceId).orderBy('created_at').orderBy('id').execute();
  return rows.map(toEndpoint);
}

/** One of them. @throws {ServiceError} RESOURCE_NOT_FOUND */
export const selectEndpoint = async (
  db: Queryable,
  workspaceId: WorkspaceId,
  endpointId: EndpointId,
): Promise<ShownEndpoint> =>
  toEndpoint(
    await shown(db, workspaceId).where('id', '=', endpointId).executeTakeFirstOrThrow(noSuchEndpoint),
  );
