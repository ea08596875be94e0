import type { Database } from '../../db/database.ts';
import { textStatement } from '../../db/prepared.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { EndpointId } from '../../ids.ts';
import { lockEndpoint } from './lock.ts';
import type { BacklogBounds } from './states.ts';

/** Endpoints that one statement counts. */
const WALK = 100;
/** Before every endpoint. */
const FIRST = '00000000-0000-0000-0000-000000000000' as EndpointId;

interface Counted {
  readonly id: EndpointId;
  readonly isOver: boolean;
}

/**
 * Parameters: the endpoint to continue after, how many, the bound. Skips along the index from one endpoint with open
 * deliveries to the next, and counts those that are not behind, along the same index, to one above the bound.
 */
const countOpen = textStatement<Counted>(
  'count_open_deliveries',
  `WITH RECURSIVE walked (endpoint_id, step) AS (
     (SELECT endpoint_id, 1 FROM webhook_open WHERE endpoint_id > $1 ORDER BY endpoint_id, due_at LIMIT 1)
     UNION ALL
     SELECT next.endpoint_id, walked.step + 1 FROM walked CROSS JOIN LATERAL (
       SELECT endpoint_id FROM webhook_open AS delivery WHERE delivery.endpoint_id > walked.endpoint_id
       ORDER BY endpoint_id, due_at LIMIT 1) AS next
     WHERE walked.step < $2
   )
   SELECT endpoint_id AS id, $3::integer < CASE WHEN EXISTS (
       SELECT FROM webhook_backlogs AS backlog WHERE backlog.endpoint_id = walked.endpoint_id AND NOT closing
     ) THEN 0 ELSE (
       SELECT count(*) FROM (
         SELECT FROM webhook_open AS delivery WHERE delivery.endpoint_id = walked.endpoint_id
         ORDER BY due_at LIMIT $3::integer + 1) AS few
     ) END AS "isOver"
   FROM walked ORDER BY step`,
);

/**
 * Parameters: endpoint, workspace, the bound. Under the endpoint's lock, so that no delivery was queued from a later part of the
 * log. A mark that is closing goes on where it is.
 */
const setMark = textStatement<{ endpoint_id: EndpointId }>(
  'mark_endpoint_behind',
  `INSERT INTO webhook_backlogs (endpoint_id, behind_from, instant)
   SELECT $1::uuid, coalesce(counter.number, 0), coalesce(counter.instant, '-infinity')
   FROM (SELECT) AS one LEFT JOIN event_counters AS counter ON counter.workspace_id = $2
   WHERE $3::integer < (SELECT count(*) FROM (
     SELECT FROM webhook_open AS delivery WHERE delivery.endpoint_id = $1 ORDER BY due_at LIMIT $3::integer + 1) AS few)
   ON CONFLICT (endpoint_id) DO UPDATE SET closing = false WHERE webhook_backlogs.closing
   RETURNING endpoint_id`,
);

/**
 * Marks the active endpoints that have more than the bound's open deliveries (contract.md W100). Safe beside other processes
 * that do the same; an endpoint that somebody has locked is left for the next time.
 * @returns those that were marked
 */
export async function markBehind(
  db: Database,
  { mark }: BacklogBounds,
  signal: AbortSignal,
): Promise<EndpointId[]> {
  const marked: EndpointId[] = [];
  for (let after: EndpointId | undefined = FIRST; after !== undefined && !signal.aborted; ) {
    const counted: readonly Counted[] = await countOpen(db, after, WALK, mark);
    for (const { id, isOver } of counted) if (isOver && (await markOne(db, id, mark))) marked.push(id);
    after = counted.length < WALK ? undefined : counted.at(-1)?.id;
  }
  return marked;
}

const markOne = (db: Database, endpointId: EndpointId, bound: number): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const endpoint = await lockEndpoint(tx, endpointId);
    if (endpoint?.active !== true) return false;
    return (await setMark(tx, endpointId, endpoint.workspaceId, bound)).length === 1;
  });
