import { sql } from 'kysely';
import type { Database, Queryable } from '../db/database.ts';
import type { JobPurpose } from '../db/tables.ts';
import { inTransaction } from '../db/transaction.ts';
import type { JobId, WorkspaceId } from '../ids.ts';
import { TURN_FREED, type Turn } from '../temporal/shapes.ts';
import { signalRun, type TemporalClient } from '../temporal/workflow-client.ts';
import { PURPOSES } from './purposes.ts';
import { takeOver } from './run-state.ts';

/** Runs of one workspace that are under way at once: what it queues beyond that waits for these, and for no one else's. */
const OPEN_RUNS = 8;
/** A run with more ahead of it would wait no longer. */
const MAX_AHEAD = 60;

interface Place {
  readonly workspace_id: WorkspaceId;
  readonly purpose: JobPurpose;
  readonly waits: boolean;
  readonly under_way: number;
  readonly ahead: number;
}

/** Where an open job stands among those of its workspace; undefined when it has ended. */
async function placeOf(db: Queryable, jobId: JobId): Promise<Place | undefined> {
  const { rows } = await sql<Place>`
    SELECT job.workspace_id, job.purpose, job.status = 'QUEUED' AS waits,
      (SELECT count(*)::integer FROM (
        SELECT 1 FROM jobs AS other
        WHERE other.workspace_id = job.workspace_id AND other.ended_at IS NULL AND other.status <> 'QUEUED'
        LIMIT ${OPEN_RUNS}) AS under_way) AS under_way,
      (SELECT count(*)::integer FROM (
        SELECT 1 FROM jobs AS other
        WHERE other.workspace_id = job.workspace_id AND other.ended_at IS NULL AND other.status = 'QUEUED'
          AND (other.created_at, other.id) < (job.created_at, job.id)
        LIMIT ${MAX_AHEAD}) AS ahead) AS ahead
    FROM jobs AS job WHERE job.id = ${jobId} AND job.ended_at IS NULL
  `.execute(db);
  return rows[0];
}

const mustWait = ({ waits, under_way }: Place): boolean => waits && under_way >= OPEN_RUNS;
const wait = ({ ahead }: Place): Turn => ({ outcome: 'wait', ahead: Math.max(1, ahead) });

/**
 * Takes a job's hold over when it is its turn: of one workspace, so many runs are under way at once. Running it again
 * changes nothing.
 * @throws {MissingHoldError} when an open job has no open hold
 */
export async function takeTurn(db: Database, jobId: JobId): Promise<Turn> {
  // Most who have to wait learn it here, without a lock.
  const place = await placeOf(db, jobId);
  if (place === undefined) return { outcome: 'ended' };
  if (mustWait(place)) return wait(place);
  return inTransaction(db, async (tx) => {
    // Runs of a workspace are let in one after the other, so that no two take the last place.
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`turns of ${place.workspace_id}`}, 0))`.execute(
      tx,
    );
    const now = await placeOf(tx, jobId);
    if (now !== undefined && mustWait(now)) return wait(now);
    const taken = await takeOver(tx, jobId, PURPOSES[place.purpose].first);
    return { outcome: taken ? 'taken' : 'ended' };
  });
}

/**
 * Tells those that wait longest in the workspace of an ended job of as many turns as are free. Whom it does not reach
 * asks by itself later.
 */
export async function passTurn(
  { db, client }: { db: Database; client: TemporalClient },
  jobId: JobId,
): Promise<void> {
  const { rows } = await sql<{ workflow_id: string }>`
    SELECT next.workflow_id FROM jobs AS ended, LATERAL (
      SELECT workflow_id FROM jobs AS waiting
      WHERE waiting.workspace_id = ended.workspace_id AND ended_at IS NULL AND status = 'QUEUED'
      ORDER BY created_at, id
      LIMIT (SELECT ${OPEN_RUNS} - count(*) FROM (
        SELECT 1 FROM jobs AS other
        WHERE other.workspace_id = ended.workspace_id AND other.ended_at IS NULL AND other.status <> 'QUEUED'
        LIMIT ${OPEN_RUNS}) AS under_way)) AS next
    WHERE ended.id = ${jobId}
  `.execute(db);
  await Promise.allSettled(rows.map(({ workflow_id }) => signalRun(client, workflow_id, TURN_FREED)));
}
