import { requirePermissions, type VerbContext } from '../../context.ts';
import type { Tx } from '../../db/database.ts';
import { textStatement } from '../../db/prepared.ts';
import { inTransaction } from '../../db/transaction.ts';
import { ServiceError } from '../../errors.ts';
import { iso } from '../../fields.ts';
import type { ArticleId, EventId, WorkspaceId } from '../../ids.ts';
import { JsonText } from '../../json-text.ts';
import { requireRoom } from '../../threads/share.ts';
import type { EventType } from '../catalog.ts';
import { decodePlace, encodePlace, type Place } from './cursor.ts';

/** Events that a request with a filter looks at. */
const MAX_LOOKED = 10_000;
/** Bytes of the bodies of a response, one event at least. */
const MAX_BYTES = 1024 * 1024;
/** Bytes in memory per byte of a body: the row, its text, the JSON and what is sent. */
const PER_BODY_BYTE = 4;
/** The same of an event besides its body. */
const PER_EVENT = 1_024;

export interface PullRequest {
  /** A cursor; `latest` for what comes next; absent from the oldest event kept on. */
  readonly after?: string | undefined;
  readonly types?: readonly EventType[] | undefined;
  readonly articleId?: ArticleId | undefined;
  readonly limit: number;
}

export interface PulledEvent {
  readonly id: EventId;
  readonly type: string;
  readonly articleId: string | null;
  readonly createdAt: string;
  /** The bytes that webhooks get. */
  readonly body: JsonText;
}

export interface PulledEvents {
  readonly events: readonly PulledEvent[];
  /** The last event looked at, shown or not. */
  readonly cursor: string;
  /** Whether the log goes on after the cursor. */
  readonly more: boolean;
  /** The number of the workspace's last event, as {@link createEventWatch} has it. */
  readonly latest: string;
}

interface Row {
  readonly number: number;
  readonly event_id: EventId;
  readonly instant: Date;
}

/** Parameter: the workspace. The last event numbered; no row before the first one. */
const readCounter = textStatement<Row>(
  'read_event_counter',
  'SELECT number, event_id, instant FROM event_counters WHERE workspace_id = $1 AND number > 0',
);

/** Parameters: workspace, instant of its last event. Reads no partition of the future. */
const readOldest = textStatement<Row>(
  'read_oldest_logged_event',
  `SELECT number, event_id, instant FROM event_log WHERE workspace_id = $1 AND instant <= $2
   ORDER BY number LIMIT 1`,
);

/** Parameters: workspace, instant of its last event, numbers. */
const readNumbers = textStatement<Row>(
  'read_logged_events',
  `SELECT number, event_id, instant FROM event_log
   WHERE workspace_id = $1 AND instant <= $2 AND number = ANY ($3::bigint[]) ORDER BY number`,
);

interface Found extends Pick<Row, 'number' | 'event_id'> {
  readonly created_at: Date;
  readonly bytes: number;
}

/**
 * Parameters: workspace, instants and numbers of the first and the last event to look at, types, article, limit. The
 * events are looked up by their ids all together, in the partitions of their times. They are paired with their numbers
 * by grouping, since of a join nobody can be sure that it is not a loop in a loop.
 */
const findEvents = textStatement<Found>(
  'find_logged_events',
  `WITH looked AS MATERIALIZED (
     SELECT number, event_id, event_created_at FROM event_log
     WHERE workspace_id = $1 AND instant BETWEEN $2 AND $3 AND number BETWEEN $4 AND $5
   ), matching AS MATERIALIZED (
     SELECT id, octet_length(body) AS bytes, created_at FROM events
     WHERE id = ANY (ARRAY(SELECT event_id FROM looked))
       AND created_at BETWEEN (SELECT min(event_created_at) FROM looked) AND (SELECT max(event_created_at) FROM looked)
       AND ($6::text[] IS NULL OR type = ANY ($6::text[])) AND ($7::uuid IS NULL OR article_id = $7::uuid)
   )
   SELECT event_id, max(number) AS number, max(bytes) AS bytes, max(created_at) AS created_at FROM (
     SELECT event_id, number, NULL::integer AS bytes, NULL::timestamptz AS created_at FROM looked
     UNION ALL SELECT id, NULL, bytes, created_at FROM matching
   ) AS pairs
   GROUP BY event_id HAVING count(bytes) > 0 ORDER BY number LIMIT $8`,
);

interface Shown {
  readonly id: EventId;
  readonly type: string;
  readonly article_id: string | null;
  readonly created_at: Date;
  readonly body: string;
}

/** Parameters: ids of events, their first and last time. In any order. */
const readBodies = textStatement<Shown>(
  'read_logged_bodies',
  `SELECT id, type, article_id, created_at, convert_from(body, 'UTF8') AS body FROM events
   WHERE id = ANY ($1::uuid[]) AND created_at BETWEEN $2 AND $3`,
);

/**
 * One page of the workspace's events, in the order of their numbers (contract.md W80, W83, W84 and W86). In one transaction, so
 * that the caller's authority is read again and no part of the log is dropped meanwhile.
 * @throws {ServiceError} INVALID_REQUEST for text that is no cursor; GONE `cursor_lost`
 */
export function pullEvents({ db, actor }: VerbContext, request: PullRequest): Promise<PulledEvents> {
  requirePermissions(actor, 'integrations.read');
  const { after } = request;
  const asked = after === undefined || after === 'latest' ? after : decodePlace(after);
  return inTransaction(db, async (tx) => {
    const [last] = await readCounter(tx, actor.workspaceId);
    if (last === undefined) {
      if (asked !== undefined && asked !== 'latest' && asked.number > 0) throw lost(START, START);
      return nothingAfter(START);
    }
    if (asked === 'latest') return nothingAfter(placeOf(last));
    const place = asked ?? (await oldestPlace(tx, actor.workspaceId, last));
    return readAfter(tx, actor.workspaceId, request, place, last);
  });
}

const START: Place = { number: 0, eventId: null };
const placeOf = ({ number, event_id }: Pick<Row, 'number' | 'event_id'>): Place => ({
  number,
  eventId: event_id,
});
const nothingAfter = (place: Place): PulledEvents => ({
  events: [],
  cursor: encodePlace(place),
  more: false,
  latest: String(place.number),
});

/** Before the oldest event that is kept; after the last one when none is. */
async function oldestPlace(tx: Tx, workspaceId: WorkspaceId, last: Row): Promise<Place> {
  const [oldest] = await readOldest(tx, workspaceId, last.instant);
  return oldest === undefined ? placeOf(last) : { number: oldest.number - 1, eventId: null };
}

/** 410: events after the cursor are no longer kept, or it comes from before a restore of the database. */
const lost = (oldest: Place, latest: Place): ServiceError =>
  new ServiceError(
    'GONE',
    'The log does not go on from this cursor. Read the current state, then go on from details.latest.',
    { details: { reason: 'cursor_lost', oldest: encodePlace(oldest), latest: encodePlace(latest) } },
  );

async function readAfter(
  tx: Tx,
  workspaceId: WorkspaceId,
  { types, articleId, limit }: PullRequest,
  place: Place,
  last: Row,
): Promise<PulledEvents> {
  const isFiltered = types !== undefined || articleId !== undefined;
  // Numbers have no gap, so the last one to look at is known.
  const end = Math.min(last.number, place.number + (isFiltered ? MAX_LOOKED : limit));
  const known = await readNumbers(tx, workspaceId, last.instant, [place.number, place.number + 1, end]);
  const at = (number: number) => (number === last.number ? last : known.find((row) => row.number === number));
  const first = at(place.number + 1);
  const own = at(place.number);
  const isOther = own !== undefined && place.eventId !== null && own.event_id !== place.eventId;
  if (place.number > last.number || isOther || (place.number < last.number && first === undefined)) {
    throw lost(await oldestPlace(tx, workspaceId, last), placeOf(last));
  }
  const endRow = at(end);
  if (first === undefined || endRow === undefined) return nothingAfter(placeOf(last));
  const found = await findEvents(
    tx,
    ...[
      workspaceId,
      first.instant,
      endRow.instant,
      first.number,
      end,
      types ?? null,
      articleId ?? null,
      limit,
    ],
  );
  const shown = fitting(found);
  const isCut = shown.length < found.length || found.length === limit;
  const cursor = placeOf((isCut ? shown.at(-1) : undefined) ?? endRow);
  return {
    events: await readShown(tx, shown),
    cursor: encodePlace(cursor),
    more: cursor.number < last.number,
    latest: String(last.number),
  };
}

/** The first of the events, as many as fit into a response. */
function fitting(found: readonly Found[]): readonly Found[] {
  let bytes = 0;
  const end = found.findIndex((each, index) => {
    bytes += each.bytes;
    return index > 0 && bytes > MAX_BYTES;
  });
  return end === -1 ? found : found.slice(0, end);
}

async function readShown(tx: Tx, shown: readonly Found[]): Promise<PulledEvent[]> {
  if (shown.length === 0) return [];
  const bytes = shown.reduce((sum, each) => sum + each.bytes, 0);
  requireRoom(PER_BODY_BYTE * bytes + PER_EVENT * shown.length);
  const times = shown.map(({ created_at }) => created_at.getTime());
  const rows = await readBodies(
    tx,
    shown.map(({ event_id }) => event_id),
    new Date(Math.min(...times)),
    new Date(Math.max(...times)),
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return shown.flatMap(({ event_id }) => {
    const row = byId.get(event_id);
    if (row === undefined) return [];
    const { id, type, article_id: articleId } = row;
    return { id, type, articleId, createdAt: iso(row.created_at), body: new JsonText(row.body) };
  });
}
