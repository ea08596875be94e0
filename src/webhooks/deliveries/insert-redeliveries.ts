import { type RawBuilder, sql } from 'kysely';
import type { Queryable } from '../../db/database.ts';
import type { EventType } from '../../events/catalog.ts';
import type { Position } from '../../http/paging.ts';
import type { DeliveryId, EndpointId, WorkspaceId } from '../../ids.ts';
import { HAS_EVENT, REQUEUE } from './queries.ts';

/** Deliveries that one request queues. */
const MAX_QUEUED = 10_000;
/** Rows of the log that it looks at. */
const LOOKED_AT = 20_000;
/** Before every id. */
const FIRST = '00000000-0000-0000-0000-000000000000';

/** Ended deliveries of an endpoint. */
export interface RedeliveryRange {
  readonly status: 'failed' | 'succeeded';
  /** Queued at this time or later. */
  readonly since: Date;
  /** Queued before this time. */
  readonly until?: Date | undefined;
  readonly events?: readonly EventType[] | undefined;
}

export interface Redelivered {
  readonly count: number;
  /** Where the next request goes on; null when nothing of the range is left. */
  readonly next: Position<DeliveryId> | null;
}

interface Row {
  readonly count: number;
  readonly looked: number;
  readonly chosen_at: Date | null;
  readonly chosen_id: DeliveryId | null;
  readonly looked_at: Date | null;
  readonly looked_id: DeliveryId | null;
}

/**
 * SQL over `delivery`: whether the same event was queued again for the endpoint. The first delivery of an event is made with
 * it, or from the log, all others later: only those made later than their event are in the two indexes. OFFSET keeps this a
 * look-up for each row.
 */
const isQueuedAgain: RawBuilder<boolean> = sql`(
  EXISTS (SELECT FROM webhook_log AS newer WHERE newer.endpoint_id = delivery.endpoint_id
    AND newer.event_id = delivery.event_id AND newer.created_at > newer.event_created_at
    AND newer.created_at >= delivery.created_at AND (newer.created_at, newer.id) > (delivery.created_at, delivery.id) OFFSET 0)
  OR EXISTS (SELECT FROM webhook_open AS newer WHERE newer.endpoint_id = delivery.endpoint_id
    AND newer.event_id = delivery.event_id AND newer.created_at > newer.event_created_at
    AND (newer.created_at, newer.id) > (delivery.created_at, delivery.id) OFFSET 0))`;

/**
 * Queues the events of an endpoint's ended deliveries again, oldest first. Skips those whose event is gone, or was queued
 * again since: a repeat queues nothing twice. Reads the log along an index from `after` on, so its cost depends neither on the
 * log's length nor on what was queued before.
 * @param isDry only counts
 */
export async function insertRedeliveries(
  db: Queryable,
  { workspaceId, endpointId }: { readonly workspaceId: WorkspaceId; readonly endpointId: EndpointId },
  { status, since, until, events }: RedeliveryRange,
  { after, isDry }: { readonly after: Position<DeliveryId> | null; readonly isDry: boolean },
): Promise<Redelivered> {
  // Written out: the index of failed deliveries has it as its condition.
  const indexed = status === 'failed' ? sql`status = 'failed'` : sql`true`;
  const { rows } = await sql<Row>`
    WITH looked AS MATERIALIZED (
      SELECT id, workspace_id, endpoint_id, event_id, event_created_at, event_type, status, created_at FROM webhook_log
      WHERE endpoint_id = ${endpointId} AND workspace_id = ${workspaceId} AND ${indexed}
        AND created_at >= ${since}::timestamptz AND created_at < ${until ?? 'infinity'}::timestamptz
        AND created_at >= ${after?.at ?? '-infinity'}::timestamptz
        AND (created_at, id) > (${after?.at ?? '-infinity'}::timestamptz, ${after?.id ?? FIRST}::uuid)
      ORDER BY created_at, id LIMIT ${LOOKED_AT}
    ), chosen AS MATERIALIZED (
      SELECT * FROM looked AS delivery
      WHERE status = ${status} AND (${events ?? null}::text[] IS NULL OR event_type = ANY (${events ?? null}::text[]))
        AND NOT ${isQueuedAgain} AND ${HAS_EVENT}
      ORDER BY created_at, id LIMIT ${MAX_QUEUED}
    ), source AS MATERIALIZED (
      SELECT uuidv7() AS id, workspace_id, endpoint_id, event_id, event_created_at, event_type
      FROM (SELECT * FROM chosen WHERE NOT ${isDry}::boolean ORDER BY created_at, id) AS ordered
    ), queued AS (${REQUEUE})
    SELECT (SELECT count(*)::integer FROM chosen) AS count, (SELECT count(*)::integer FROM looked) AS looked,
      chosen.created_at AS chosen_at, chosen.id AS chosen_id, looked.created_at AS looked_at, looked.id AS looked_id
    FROM (SELECT 1) AS one
    LEFT JOIN (SELECT created_at, id FROM chosen ORDER BY created_at DESC, id DESC LIMIT 1) AS chosen ON true
    LEFT JOIN (SELECT created_at, id FROM looked ORDER BY created_at DESC, id DESC LIMIT 1) AS looked ON true
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return { count: 0, next: null };
  const { count, looked, chosen_at, chosen_id, looked_at, looked_id } = row;
  const [at, id] =
    count === MAX_QUEUED
      ? [chosen_at, chosen_id]
      : looked === LOOKED_AT
        ? [looked_at, looked_id]
        : [null, null];
  return { count, next: at === null || id === null ? null : { at, id } };
}
