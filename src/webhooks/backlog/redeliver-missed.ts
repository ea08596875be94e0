import { sql } from 'kysely';
import type { Database, Tx } from '../../db/database.ts';
import { textStatement } from '../../db/prepared.ts';
import { invalid } from '../../errors.ts';
import type { EventType } from '../../events/catalog.ts';
import type { EndpointId, WorkspaceId } from '../../ids.ts';

/** Deliveries that one request queues, and events of the log that it looks at. */
const MAX_QUEUED = 10_000;
const LOOKED_AT = 20_000;

/** Events that were passed over; times are those of their numbers in the log. */
export interface MissedRange {
  readonly since: Date;
  readonly until?: Date | undefined;
  readonly events?: readonly EventType[] | undefined;
}

interface Found {
  readonly count: number;
  /** The number that the next request goes on after; null when nothing of the range is left. */
  readonly next: number | null;
}

/**
 * Parameters: endpoint, workspace, since, until, events, the number to go on after, whether it only counts. An event of the range
 * that names the endpoint was queued from the log, was redelivered, or was missed: the first two are younger than their event, and
 * in the two indexes of such deliveries.
 */
const queueMissed = textStatement<Found>(
  'redeliver_missed',
  `WITH missed AS MATERIALIZED (
     SELECT greatest(first_number, $6::bigint + 1) AS first_number, last_number,
       greatest(from_at, $3::timestamptz) AS from_at, least(to_at, $4::timestamptz) AS to_at
     FROM webhook_missed WHERE endpoint_id = $1
   ), looked AS MATERIALIZED (
     SELECT number, event_id, event_created_at FROM event_log
     WHERE workspace_id = $2 AND number >= (SELECT first_number FROM missed) AND number <= (SELECT last_number FROM missed)
       AND instant >= (SELECT from_at FROM missed) AND instant < (SELECT to_at FROM missed)
     ORDER BY number LIMIT ${LOOKED_AT}
   ), wanted AS MATERIALIZED (
     SELECT id, type, created_at FROM events
     WHERE id = ANY (ARRAY(SELECT event_id FROM looked))
       AND created_at BETWEEN (SELECT min(event_created_at) FROM looked) AND (SELECT max(event_created_at) FROM looked)
       AND $1 = ANY (behind) AND ($5::text[] IS NULL OR type = ANY ($5::text[]))
   ), paired AS MATERIALIZED (
     SELECT event_id, max(number) AS number, max(type) AS type, max(created_at) AS created_at FROM (
       SELECT event_id, number, NULL::text AS type, NULL::timestamptz AS created_at FROM looked
       UNION ALL SELECT id, NULL, type, created_at FROM wanted
     ) AS pairs
     GROUP BY event_id HAVING count(type) > 0
   ), chosen AS MATERIALIZED (
     SELECT * FROM paired
     WHERE NOT EXISTS (SELECT FROM webhook_open AS later WHERE later.endpoint_id = $1
         AND later.event_id = paired.event_id AND later.created_at > later.event_created_at OFFSET 0)
       AND NOT EXISTS (SELECT FROM webhook_log AS later WHERE later.endpoint_id = $1
         AND later.event_id = paired.event_id AND later.created_at > later.event_created_at
         AND later.created_at > paired.created_at OFFSET 0)
     ORDER BY number LIMIT ${MAX_QUEUED}
   ), queued AS (
     INSERT INTO webhook_open (id, workspace_id, endpoint_id, event_id, event_created_at, event_type, due_at, created_at)
     SELECT id, $2, $1, event_id, created_at, type, clock_timestamp(), uuid_extract_timestamp(id)
     FROM (SELECT uuidv7() AS id, ordered.* FROM (SELECT * FROM chosen ORDER BY number) AS ordered) AS delivery
     WHERE NOT $7::boolean
   ), cleared AS (
     DELETE FROM webhook_missed AS known
     WHERE endpoint_id = $1 AND NOT $7::boolean AND $5::text[] IS NULL
       AND known.from_at >= $3::timestamptz AND known.to_at <= $4::timestamptz
       AND (SELECT count(*) FROM chosen) < ${MAX_QUEUED} AND (SELECT count(*) FROM looked) < ${LOOKED_AT}
   )
   SELECT count(*)::integer AS count, CASE
     WHEN count(*) = ${MAX_QUEUED} THEN max(number)
     WHEN (SELECT count(*) FROM looked) = ${LOOKED_AT} THEN (SELECT max(number) FROM looked) END AS next
   FROM chosen`,
);

/**
 * Queues the events that were never queued for an endpoint, in their order: the first 10,000 of the range. One that was
 * queued since is left out, so a repeat queues nothing twice. A range that is done whole is no longer shown as missed.
 * The caller holds the endpoint.
 * @throws {ServiceError} INVALID_REQUEST for text that is no cursor
 */
export async function redeliverMissed(
  tx: Tx,
  { workspaceId, endpointId }: { readonly workspaceId: WorkspaceId; readonly endpointId: EndpointId },
  { since, until, events }: MissedRange,
  { cursor, isDry }: { readonly cursor: string | undefined; readonly isDry: boolean },
): Promise<{ readonly count: number; readonly nextCursor: string | null }> {
  const after = decodeNumber(cursor);
  const types = events ?? null;
  const [found = { count: 0, next: null }] = await queueMissed(
    tx,
    ...[endpointId, workspaceId, since, until ?? 'infinity', types, after, isDry],
  );
  return { count: found.count, nextCursor: found.next === null ? null : encodeNumber(found.next) };
}

const encodeNumber = (number: number): string => Buffer.from(`missed ${number}`).toString('base64url');

function decodeNumber(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [, digits] = /^missed ([1-9]\d{0,14})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (digits === undefined) {
    throw invalid('/cursor', 'Send the nextCursor of the previous page, unchanged.');
  }
  return Number(digits);
}

/** Forgets what was missed in a part of the log that is no longer kept, up to an hour late. */
export async function forgetMissed(db: Database, retentionSeconds: number): Promise<void> {
  const cutoff = sql`now() - make_interval(secs => ${retentionSeconds}::float8)`;
  await sql`
    WITH gone AS (DELETE FROM webhook_missed WHERE to_at < ${cutoff})
    UPDATE webhook_missed SET from_at = ${cutoff}
    WHERE from_at < ${cutoff} - interval '1 hour' AND to_at >= ${cutoff}`.execute(db);
}
