import { type RawBuilder, sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { DeliveryStatus } from '../../db/tables.ts';
import type { EventType } from '../../events/catalog.ts';
import { iso } from '../../fields.ts';
import { encodeCursor, type PageRequest } from '../../http/paging.ts';
import type { DeliveryId, EndpointId } from '../../ids.ts';
import { requireEndpoint } from '../endpoints/queries.ts';
import type { DeliveryPage } from '../schemas.ts';
import { type DeliveryRow, FROM_LOG, FROM_OPEN, toDelivery } from './queries.ts';

/** Rows of one index that a page reads at most: what other filters leave of them may be less than a page, or nothing. */
const LOOKED_AT = 1_000;
/** After every id. */
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export interface DeliveryFilter {
  readonly endpointId?: EndpointId | undefined;
  readonly eventType?: EventType | undefined;
  readonly status?: DeliveryStatus | undefined;
  /** Queued at this time or later. */
  readonly since?: Date | undefined;
  /** Queued before this time. */
  readonly until?: Date | undefined;
}

type Row = DeliveryRow & { readonly edge_at: Date | null; readonly edge_id: DeliveryId | null };

/**
 * The deliveries of a workspace that a filter leaves, newest first, in pages (contract.md W68). A page reads a thousand rows
 * of each index at most, and continues where the first of them ended: so its cost depends neither on the log's length nor on
 * what the filter leaves.
 * @throws {ServiceError} RESOURCE_NOT_FOUND for an unknown or foreign endpoint
 */
export async function listDeliveries(
  { db, actor }: VerbContext,
  filter: DeliveryFilter,
  { limit, position }: PageRequest<DeliveryId>,
): Promise<DeliveryPage> {
  requirePermissions(actor, 'integrations.read');
  const { workspaceId } = actor;
  const { endpointId, eventType, status, since, until } = filter;
  if (endpointId !== undefined) await requireEndpoint(db, workspaceId, endpointId);
  const within = sql`workspace_id = ${workspaceId}
    AND created_at >= ${since ?? '-infinity'}::timestamptz AND created_at < ${until ?? 'infinity'}::timestamptz
    AND (created_at, id) < (${position?.at ?? 'infinity'}::timestamptz, ${position?.id ?? LAST}::uuid)`;
  const scan = (from: RawBuilder<unknown>, more: RawBuilder<unknown>) => sql`(
    SELECT *, row_number() OVER (ORDER BY created_at DESC, id DESC) AS place FROM (
      ${from} WHERE ${within} AND ${more} ORDER BY created_at DESC, id DESC LIMIT ${LOOKED_AT}) AS scan)`;
  const open = (['pending', 'failed'] as const)
    .filter((of) => status === undefined || status === of)
    .map((of) => scan(FROM_OPEN, sql`status = ${of}`));
  const ended =
    endpointId === undefined
      ? (['succeeded', 'failed'] as const)
          .filter((of) => status === undefined || status === of)
          .map((of) => scan(FROM_LOG, sql`status = ${of}`))
      : status === 'pending'
        ? []
        : [scan(FROM_LOG, sql`endpoint_id = ${endpointId}`)];
  const { rows } = await sql<Row>`
    WITH looked AS MATERIALIZED (${sql.join([...open, ...ended], sql` UNION ALL `)}
    ), edge AS MATERIALIZED (
      SELECT created_at, id FROM looked WHERE place = ${LOOKED_AT} ORDER BY created_at DESC, id DESC LIMIT 1
    ), page AS (
      SELECT * FROM looked AS delivery
      WHERE (${endpointId ?? null}::uuid IS NULL OR endpoint_id = ${endpointId ?? null}::uuid)
        AND (${status ?? null}::text IS NULL OR status = ${status ?? null}::text)
        AND (${eventType ?? null}::text IS NULL OR event_type = ${eventType ?? null}::text)
        AND NOT EXISTS (SELECT FROM edge WHERE (delivery.created_at, delivery.id) < (edge.created_at, edge.id))
        AND EXISTS (SELECT FROM webhook_endpoints AS endpoint
          WHERE endpoint.id = delivery.endpoint_id AND endpoint.deleted_at IS NULL)
      ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}
    )
    SELECT page.*, edge.created_at AS edge_at, edge.id AS edge_id
    FROM (SELECT 1) AS one LEFT JOIN edge ON true LEFT JOIN page ON true
    ORDER BY page.created_at DESC, page.id DESC`.execute(db);
  const found = rows.filter(({ id }) => id !== null);
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const [{ edge_at = null, edge_id = null } = {}] = rows;
  const isFull = found.length > limit;
  const edge = edge_at !== null && edge_id !== null ? { at: edge_at, id: edge_id } : null;
  const end = isFull && last !== undefined ? { at: last.created_at, id: last.id } : edge;
  return {
    deliveries: shown.map((row) => ({
      ...toDelivery(row),
      eventId: row.event_id,
      nextAttemptAt: iso(row.due_at),
    })),
    nextCursor: end && encodeCursor(end),
  };
}
