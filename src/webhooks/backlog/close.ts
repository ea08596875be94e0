import type { Database } from '../../db/database.ts';
import { textStatement } from '../../db/prepared.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { EndpointId, WorkspaceId } from '../../ids.ts';

/** Events without deliveries, yet to be worked off or to be numbered, with which closing is tried at all. */
const MAX_LEFT = 5_000;

/** Parameter: endpoint. While an event relies on the mark, nobody gets it. */
const lockMark = textStatement<{ workspace_id: WorkspaceId }>(
  'lock_backlog_to_close',
  `SELECT endpoint.workspace_id FROM webhook_endpoints AS endpoint
   JOIN webhook_backlogs AS backlog ON backlog.endpoint_id = endpoint.id
   WHERE endpoint.id = $1 AND endpoint.deleted_at IS NULL AND backlog.closing
   FOR NO KEY UPDATE OF endpoint SKIP LOCKED FOR UPDATE OF backlog SKIP LOCKED`,
);

/**
 * Parameters: endpoint, workspace, how many events to look at. A statement of its own, after the lock: it sees all events that
 * relied on the mark.
 */
const removeMark = textStatement<{ endpoint_id: EndpointId }>(
  'close_backlog',
  `WITH backlog AS MATERIALIZED (
     SELECT behind_from, instant FROM webhook_backlogs WHERE endpoint_id = $1
   ), rest AS MATERIALIZED (
     (SELECT event_id, event_created_at FROM event_log
      WHERE workspace_id = $2 AND number > (SELECT behind_from FROM backlog)
        AND instant >= (SELECT instant FROM backlog)
        AND instant <= (SELECT instant FROM event_counters WHERE workspace_id = $2)
      ORDER BY number LIMIT $3::integer + 1)
     UNION ALL
     (SELECT event_id, event_created_at FROM event_queue WHERE workspace_id = $2 ORDER BY id LIMIT $3::integer + 1)
   )
   DELETE FROM webhook_backlogs WHERE endpoint_id = $1 AND (SELECT count(*) FROM rest) <= $3::integer
     AND NOT EXISTS (
       SELECT FROM events
       WHERE id = ANY (ARRAY(SELECT event_id FROM rest))
         AND created_at BETWEEN (SELECT min(event_created_at) FROM rest) AND (SELECT max(event_created_at) FROM rest)
         AND $1 = ANY (behind))
   RETURNING endpoint_id`,
);

/**
 * Removes the mark of an endpoint that has caught up, once no event relies on it, committed or not (contract.md W101).
 * @returns false when one may
 */
export const closeBacklog = (db: Database, endpointId: EndpointId): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const [locked] = await lockMark(tx, endpointId);
    if (locked === undefined) return false;
    return (await removeMark(tx, endpointId, locked.workspace_id, MAX_LEFT)).length === 1;
  });
