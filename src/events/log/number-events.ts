import type { Database } from '../../db/database.ts';
import { lastStatement, textStatement } from '../../db/prepared.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { WorkspaceId } from '../../ids.ts';

/** Workspaces and events of one round. */
const MAX_WORKSPACES = 100;
const MAX_EVENTS = 5_000;
/** Before every workspace. */
export const FIRST = '00000000-0000-0000-0000-000000000000' as WorkspaceId;

interface Waiting {
  /** Workspaces with events in the queue, in order. */
  readonly waiting: readonly WorkspaceId[];
  /** Those of them whose counter is locked now. */
  readonly locked: readonly WorkspaceId[];
  /** Those of them without a counter. */
  readonly uncounted: readonly WorkspaceId[];
}

/**
 * Parameters: the workspace to continue after, how many. Skips along the index from one workspace to the next. Counters
 * that another sequencer holds are left to it.
 */
const lockCounters = textStatement<Waiting>(
  'lock_event_counters',
  `WITH RECURSIVE found (workspace_id, place) AS (
     (SELECT workspace_id, 1 FROM event_queue WHERE workspace_id > $1 ORDER BY workspace_id LIMIT 1)
     UNION ALL
     SELECT (SELECT queued.workspace_id FROM event_queue AS queued
       WHERE queued.workspace_id > found.workspace_id ORDER BY queued.workspace_id LIMIT 1), place + 1
     FROM found WHERE found.workspace_id IS NOT NULL AND place < $2
   ), waiting AS MATERIALIZED (
     SELECT workspace_id FROM found WHERE workspace_id IS NOT NULL
   ), locked AS MATERIALIZED (
     SELECT counter.workspace_id FROM waiting JOIN event_counters AS counter USING (workspace_id)
     FOR UPDATE OF counter SKIP LOCKED
   )
   SELECT ARRAY(SELECT workspace_id FROM waiting ORDER BY workspace_id) AS waiting,
     ARRAY(SELECT workspace_id FROM locked) AS locked,
     ARRAY(SELECT workspace_id FROM waiting WHERE NOT EXISTS (
       SELECT FROM event_counters AS counter WHERE counter.workspace_id = waiting.workspace_id)) AS uncounted`,
);

/** Outside of the round's transaction, so that no sequencer waits for another. A workspace may be gone meanwhile. */
const addCounters = textStatement<{ workspace_id: WorkspaceId }>(
  'add_event_counters',
  `INSERT INTO event_counters (workspace_id) SELECT id FROM workspaces WHERE id = ANY ($1::uuid[])
   ON CONFLICT DO NOTHING RETURNING workspace_id`,
);

interface Moved {
  readonly events: number;
  /** Events of the workspace that had most. */
  readonly most: number;
  /** Seconds since the oldest of them was stored. */
  readonly lag: number;
}

/**
 * Parameters: workspaces whose counters are locked, events of each. A statement of its own, after the lock: it sees what
 * the sequencer before has committed, and what was stored until then.
 */
const moveQueued = lastStatement<Moved>(
  'move_queued_events',
  `WITH moved AS (
     DELETE FROM event_queue WHERE ctid = ANY (ARRAY(
       SELECT first.place FROM unnest($1::uuid[]) AS counted (workspace_id)
       CROSS JOIN LATERAL (
         SELECT queued.ctid AS place FROM event_queue AS queued
         WHERE queued.workspace_id = counted.workspace_id ORDER BY queued.id LIMIT $2
       ) AS first))
     RETURNING workspace_id, id, event_id, event_created_at
   ), present AS MATERIALIZED (
     SELECT clock_timestamp()::timestamptz(3) AS instant
   ), numbered AS MATERIALIZED (
     SELECT moved.workspace_id, moved.event_id, moved.event_created_at,
       counter.number + row_number() OVER (PARTITION BY moved.workspace_id ORDER BY moved.id) AS number,
       GREATEST(counter.instant, present.instant) AS instant
     FROM present CROSS JOIN moved JOIN event_counters AS counter ON counter.workspace_id = moved.workspace_id
   ), logged AS (
     INSERT INTO event_log (workspace_id, number, event_id, event_created_at, instant)
     SELECT workspace_id, number, event_id, event_created_at, instant FROM numbered
   ), counted AS (
     UPDATE event_counters AS counter SET number = last.number, event_id = last.event_id, instant = last.instant
     FROM (SELECT DISTINCT ON (workspace_id) * FROM numbered ORDER BY workspace_id, number DESC) AS last
     WHERE counter.workspace_id = last.workspace_id
   )
   SELECT count(*)::integer AS events,
     coalesce((SELECT max(count) FROM (SELECT count(*) FROM numbered GROUP BY workspace_id) AS each), 0)::integer AS most,
     coalesce(extract(epoch FROM clock_timestamp() - min(event_created_at)), 0)::float8 AS lag
   FROM numbered`,
);

/** What a round did. */
export interface Round {
  readonly events: number;
  /** Seconds since the oldest numbered event was stored; 0 without any. */
  readonly lag: number;
  /** Whether events were waiting, whoever numbers them. */
  readonly isBusy: boolean;
  /** Whether the next round is to follow at once. */
  readonly isMore: boolean;
  /** The workspace to continue after. */
  readonly last: WorkspaceId;
}

/**
 * Gives committed events their numbers (contract.md W81, W82 and W87), workspaces in turn: 5,000 events of 100 workspaces at
 * most. Sequencers may run at once: one that holds a workspace's counter is alone with it until its commit, and so sees
 * all that was numbered before.
 * @param after the workspace to continue after
 */
export async function numberEvents(db: Database, after: WorkspaceId): Promise<Round> {
  const { found, moved } = await inTransaction(db, async (tx) => {
    const [found = { waiting: [], locked: [], uncounted: [] }] = await lockCounters(
      tx,
      after,
      MAX_WORKSPACES,
    );
    if (found.locked.length === 0) return { found, moved: { events: 0, lag: 0, isFull: false } };
    const each = Math.ceil(MAX_EVENTS / found.locked.length);
    const [{ events, lag, most } = { events: 0, lag: 0, most: 0 }] = await moveQueued(tx, found.locked, each);
    return { found, moved: { events, lag, isFull: most >= each } };
  });
  const { waiting, uncounted } = found;
  const added = uncounted.length === 0 ? [] : await addCounters(db, uncounted);
  const isRest = waiting.length < MAX_WORKSPACES;
  const { events, lag, isFull } = moved;
  return {
    events,
    lag,
    isBusy: waiting.length > 0 || after !== FIRST,
    isMore: added.length > 0 || (events > 0 && (isFull || !isRest || after !== FIRST)),
    last: (isRest ? undefined : waiting.at(-1)) ?? FIRST,
  };
}
