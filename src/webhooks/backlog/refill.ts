import type { Database } from '../../db/database.ts';
import { textStatement } from '../../db/prepared.ts';
import { afterCommit, inTransaction } from '../../db/transaction.ts';
import { deliveriesStored } from '../../events/stored.ts';
import type { EndpointId } from '../../ids.ts';
import { lockEndpoint } from './lock.ts';
import type { BacklogBounds } from './states.ts';

interface State {
  readonly closing: boolean;
  /** Deliveries that may be open beyond those that are, before it counts as long; 0 when it is not refilled. */
  readonly room: number;
  /** Whether the log has something after the mark. */
  readonly hasMore: boolean;
  /** Whether the first of it is too old. */
  readonly isOld: boolean;
  /** What was numbered before is too old, as Postgres writes it. */
  readonly cutoff: string;
}

/**
 * Parameters: endpoint, workspace, bound of the refill, maximum age in seconds; null passes over everything. The log is read
 * between the instants of the mark and of the last number: no partition outside.
 */
const readState = textStatement<State>(
  'read_backlog',
  `SELECT closing, greatest(0, $3::integer - (SELECT count(*) FROM (
       SELECT FROM webhook_open AS delivery WHERE delivery.endpoint_id = $1 ORDER BY due_at LIMIT $3::integer) AS few)
     )::integer AS room,
     behind_from < coalesce(counter.number, 0) AS "hasMore",
     coalesce((SELECT logged.instant FROM event_log AS logged
       WHERE logged.workspace_id = $2 AND logged.number > behind_from
         AND logged.instant >= backlog.instant AND logged.instant <= counter.instant
       ORDER BY logged.number LIMIT 1) < cutoff, true) AS "isOld",
     cutoff::text
   FROM webhook_backlogs AS backlog
   CROSS JOIN (SELECT CASE WHEN $4::float8 IS NULL THEN 'infinity' ELSE now() - make_interval(secs => $4::float8) END AS cutoff) AS age
   LEFT JOIN event_counters AS counter ON counter.workspace_id = $2
   WHERE backlog.endpoint_id = $1`,
);

interface Step {
  readonly queued: number;
  readonly missed: number;
}

/**
 * Parameters: endpoint, workspace, how many to queue, how many to look at, the cutoff, below how many queued ones it is
 * closing at the end of the log. Events are looked up by their ids, all together, and paired with their numbers by
 * grouping, as in src/events/log/pull.ts. Each delivery's id is later than its event: that is how deliveries made after
 * their event are found.
 *
 * It stops before the first event that it may neither queue nor pass over. Where a part of the log is gone already,
 * that part is missed.
 */
const step = textStatement<Step>(
  'refill_endpoint',
  `WITH backlog AS MATERIALIZED (
     SELECT behind_from, instant, created_at FROM webhook_backlogs WHERE endpoint_id = $1
   ), counter AS MATERIALIZED (
     SELECT number, instant FROM event_counters WHERE workspace_id = $2
   ), looked AS MATERIALIZED (
     SELECT number, event_id, event_created_at, instant FROM event_log
     WHERE workspace_id = $2 AND number > (SELECT behind_from FROM backlog)
       AND instant >= (SELECT instant FROM backlog) AND instant <= (SELECT instant FROM counter)
     ORDER BY number LIMIT $4
   ), wanted AS MATERIALIZED (
     SELECT id, type, created_at FROM events
     WHERE id = ANY (ARRAY(SELECT event_id FROM looked))
       AND created_at BETWEEN (SELECT min(event_created_at) FROM looked) AND (SELECT max(event_created_at) FROM looked)
       AND $1 = ANY (behind)
   ), paired AS MATERIALIZED (
     SELECT event_id, max(number) AS number, max(instant) AS instant, max(type) AS type, max(created_at) AS created_at
     FROM (
       SELECT event_id, number, instant, NULL::text AS type, NULL::timestamptz AS created_at FROM looked
       UNION ALL SELECT id, NULL, NULL, type, created_at FROM wanted
     ) AS pairs
     GROUP BY event_id HAVING count(type) > 0
   ), chosen AS MATERIALIZED (
     SELECT * FROM paired WHERE instant >= $5::timestamptz ORDER BY number LIMIT $3
   ), stop AS MATERIALIZED (
     SELECT min(number) AS number FROM paired
     WHERE instant >= $5::timestamptz AND number > coalesce((SELECT max(number) FROM chosen), 0)
   ), reached AS MATERIALIZED (
     (SELECT number, instant FROM looked WHERE number < coalesce((SELECT number FROM stop), number + 1)
      ORDER BY number DESC LIMIT 1)
     UNION ALL
     SELECT coalesce(counter.number, backlog.behind_from), coalesce(counter.instant, backlog.instant)
     FROM backlog LEFT JOIN counter ON true WHERE NOT EXISTS (SELECT FROM looked)
   ), queued AS (
     INSERT INTO webhook_open
       (id, workspace_id, endpoint_id, event_id, event_created_at, event_type, due_at, created_at)
     SELECT id, $2, $1, event_id, created_at, type, clock_timestamp(), uuid_extract_timestamp(id)
     FROM (
       SELECT uuidv7(greatest(interval '0', created_at - clock_timestamp() + interval '2 milliseconds')) AS id, ordered.*
       FROM (SELECT * FROM chosen ORDER BY number) AS ordered
     ) AS delivery
   ), passed AS MATERIALIZED (
     SELECT number AS first, number AS last, instant AS from_at, instant AS to_at FROM paired
     WHERE instant < $5::timestamptz
     UNION ALL
     SELECT backlog.behind_from + 1, first.number - 1, greatest(backlog.instant, backlog.created_at),
       greatest(backlog.instant, backlog.created_at, first.instant)
     FROM backlog CROSS JOIN (
       SELECT number, instant FROM looked
       UNION ALL SELECT number + 1, instant FROM counter
       ORDER BY number LIMIT 1) AS first
     WHERE first.number > backlog.behind_from + 1
   ), missed AS (
     INSERT INTO webhook_missed AS known (endpoint_id, first_number, last_number, from_at, to_at)
     SELECT $1, min(first), max(last), min(from_at), max(to_at) + interval '1 millisecond' FROM passed HAVING count(*) > 0
     ON CONFLICT (endpoint_id) DO UPDATE SET
       first_number = least(known.first_number, excluded.first_number),
       last_number = greatest(known.last_number, excluded.last_number),
       from_at = least(known.from_at, excluded.from_at), to_at = greatest(known.to_at, excluded.to_at)
   ), moved AS (
     UPDATE webhook_backlogs AS backlog SET behind_from = reached.number, instant = reached.instant,
       closing = backlog.closing OR (
         reached.number >= coalesce((SELECT number FROM counter), 0) AND (SELECT count(*) FROM chosen) < $6)
     FROM reached WHERE backlog.endpoint_id = $1
   )
   SELECT (SELECT count(*) FROM chosen)::integer AS queued, (SELECT count(*) FROM passed)::integer AS missed`,
);

/** What a refill has done. */
export interface Refilled extends Step {
  /** Whether events queue their deliveries themselves again: the mark may go when the log is worked off. */
  readonly isClosing: boolean;
  /** Whether it was all that could be done now. */
  readonly isDone: boolean;
}

const NOTHING: Refilled = { queued: 0, missed: 0, isClosing: false, isDone: true };

/**
 * Queues the next events of the log for an endpoint that is behind, if it has few open deliveries, in their order; and
 * passes over those that are too old (contract.md W101 and W102). Of a disabled endpoint all are passed over.
 * @param maxAgeSeconds of an event
 */
export const refill = (
  db: Database,
  endpointId: EndpointId,
  maxAgeSeconds: number,
  bounds: BacklogBounds,
): Promise<Refilled> =>
  inTransaction(db, async (tx) => {
    const endpoint = await lockEndpoint(tx, endpointId);
    if (endpoint === undefined) return NOTHING;
    const { workspaceId, active: isActive } = endpoint;
    const age = isActive ? maxAgeSeconds : null;
    const [state] = await readState(tx, endpointId, workspaceId, bounds.refill, age);
    if (state === undefined) return NOTHING;
    const { closing, room, hasMore, isOld, cutoff } = state;
    const isHeldUp = isActive && room === 0 && !(hasMore && isOld);
    if (isHeldUp || (!hasMore && closing)) return { ...NOTHING, isClosing: closing };
    const most = room > 0 ? bounds.queued : 0;
    const closesBelow = isActive ? room : bounds.looked;
    const [done = { queued: 0, missed: 0 }] = await step(
      tx,
      ...[endpointId, workspaceId, most, bounds.looked, cutoff, closesBelow],
    );
    if (done.queued > 0) afterCommit(tx, deliveriesStored.notify);
    return { ...done, isClosing: closing, isDone: false };
  });
