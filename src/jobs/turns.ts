import { type RawBuilder, sql } from 'kysely';
import type { Database, Queryable } from '../db/database.ts';
import type { OnLeftOver } from '../db/savepoint.ts';
import type { JobPurpose } from '../db/tables.ts';
import { inTransaction } from '../db/transaction.ts';
import { isServedWorkspace } from '../db/workspace-state.ts';
import type { JobId, WorkspaceId } from '../ids.ts';
import { PARALLEL_BATCHES, TURN_FREED, type Turn } from '../temporal/shapes.ts';
import { signalRun } from '../temporal/workflow-client.ts';
import { endJob } from './end.ts';
import { PURPOSES } from './purposes.ts';
import { takeOver } from './run-state.ts';
import type { JobAreas, StartableJob, StartDependencies } from './start.ts';
import { findUnpaidExcess } from './unpaid-limits.ts';

/** Runs of one workspace that are active at once: further ones wait for these, and for no other workspace's. */
const OPEN_RUNS = 8;
/** Largest number of runs ahead that affects the poll interval. */
const MAX_AHEAD = 60;

interface Place {
  readonly workspace_id: WorkspaceId;
  readonly purpose: JobPurpose;
  readonly waits: boolean;
  /** False while the workspace is deleted or suspended. */
  readonly served: boolean;
  readonly under_way: number;
  /** Runs that may be under way. */
  readonly most: number;
  readonly ahead: number;
}

/** Runs whose calls are a third of a worker's, if each makes as many as it may. */
const runsOfShare = (engineSlots: number): number =>
  Math.min(OPEN_RUNS, Math.max(1, Math.floor(engineSlots / 3 / PARALLEL_BATCHES)));

/** How many runs of a workspace are under way. */
const runsUnderWay = (workspace: RawBuilder<unknown>): RawBuilder<number> => sql`(
  SELECT count(*)::integer FROM (
    SELECT 1 FROM jobs AS other
    WHERE other.workspace_id = ${workspace} AND other.ended_at IS NULL AND other.status <> 'QUEUED'
    LIMIT ${OPEN_RUNS}) AS under_way)`;

/** How many may be: its share while others have some (contract.md J18). */
function mostRuns(workspace: RawBuilder<unknown>, engineSlots: number): RawBuilder<number> {
  const share = runsOfShare(engineSlots);
  return sql`CASE WHEN ${share}::integer < ${OPEN_RUNS}::integer AND EXISTS (
      SELECT 1 FROM jobs AS other
      WHERE other.workspace_id <> ${workspace} AND other.ended_at IS NULL AND other.status <> 'QUEUED')
    THEN ${share}::integer ELSE ${OPEN_RUNS}::integer END`;
}

/** The place of an open job among those of its workspace; undefined when it has ended. */
async function placeOf(db: Queryable, jobId: JobId, engineSlots: number): Promise<Place | undefined> {
  const workspace = sql.ref('job.workspace_id');
  const { rows } = await sql<Place>`
    SELECT job.workspace_id, job.purpose, job.status = 'QUEUED' AS waits,
      ${isServedWorkspace(workspace)} AS served,
      ${runsUnderWay(workspace)} AS under_way,
      ${mostRuns(workspace, engineSlots)} AS most,
      (SELECT count(*)::integer FROM (
        SELECT 1 FROM jobs AS other
        WHERE other.workspace_id = job.workspace_id AND other.ended_at IS NULL AND other.status = 'QUEUED'
          AND (other.created_at, other.id) < (job.created_at, job.id)
        LIMIT ${MAX_AHEAD}) AS ahead) AS ahead
    FROM jobs AS job WHERE job.id = ${jobId} AND job.ended_at IS NULL
  `.execute(db);
  return rows[0];
}

const mustWait = ({ waits, served, under_way, most }: Place): boolean =>
  waits && (!served || under_way >= most);
const wait = ({ served, ahead }: Place): Turn => ({
  outcome: 'wait',
  ahead: served ? Math.max(1, ahead) : MAX_AHEAD,
});

export interface TurnLimits {
  /** Unpaid words of cancelled runs in 24 hours above which none begins; of failed ones five times as many. 0: none. */
  readonly unbilledLimit: number;
  /** Calls of engines that a worker makes at once. */
  readonly engineSlots: number;
}

/**
 * Takes over a job's hold when it is its turn: each workspace has so many active runs, fewer while others have some and
 * its calls would be more than a third of a worker's (contract.md J18); one that is deleted or suspended begins none
 * (contract.md L7). A job of a workspace above a limit of unpaid words fails instead, uncharged (contract.md J14).
 * Idempotent.
 * @throws {MissingHoldError} when an open job has no open hold
 */
export async function takeTurn(
  db: Database,
  jobId: JobId,
  { unbilledLimit, engineSlots }: TurnLimits,
  onLeftOver: OnLeftOver,
): Promise<Turn> {
  // Most jobs that have to wait return here, without a lock.
  const place = await placeOf(db, jobId, engineSlots);
  if (place === undefined) return { outcome: 'ended' };
  if (mustWait(place)) return wait(place);
  return inTransaction(db, async (tx) => {
    // Serialises a workspace's runs, so that no two take the last place.
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`turns of ${place.workspace_id}`}, 0))`.execute(
      tx,
    );
    const now = await placeOf(tx, jobId, engineSlots);
    if (now !== undefined && mustWait(now)) return wait(now);
    const excess = now?.waits ? await findUnpaidExcess(tx, place.workspace_id, unbilledLimit) : null;
    if (excess !== null) {
      const from = new Date(Math.ceil(excess.until.getTime() / 1_000) * 1_000).toISOString();
      const errorMessage = `${excess.explanation} Nothing was charged; send it again after ${from}.`;
      const ended = await endJob(tx, jobId, { status: 'FAILED', errorMessage, onLeftOver });
      return { outcome: ended === null ? 'ended' : 'refused' };
    }
    const taken = await takeOver(tx, jobId, PURPOSES[place.purpose].first);
    return { outcome: taken ? 'taken' : 'ended' };
  });
}

/** What passing a turn on needs: the next job's run may not be started yet. */
export interface TurnDependencies extends StartDependencies, Pick<TurnLimits, 'engineSlots'> {
  readonly areas: JobAreas;
}

/**
 * Whether fewer jobs of the workspace are under way or ahead than may be under way: only then a queued job has a run, so that
 * a thousand queued jobs cost Temporal nothing.
 * @param job alias of a row of `jobs` in the query
 */
export function isNext(job: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${job}.${name}`);
  return sql`(SELECT count(*) FROM (
      SELECT 1 FROM jobs AS other
      WHERE other.workspace_id = ${column('workspace_id')} AND other.ended_at IS NULL AND (other.status <> 'QUEUED'
        OR (other.created_at, other.id) < (${column('created_at')}, ${column('id')}))
      LIMIT ${OPEN_RUNS}) AS before) < ${OPEN_RUNS}`;
}

/** Starts the run of a queued job, unless it has to wait for others of its workspace: the end of one of these starts it. */
export async function startIfNext(dependencies: TurnDependencies, job: StartableJob): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    SELECT job.id FROM jobs AS job WHERE job.id = ${job.id} AND job.ended_at IS NULL AND ${isNext('job')}
  `.execute(dependencies.db);
  if (rows.length > 0) await dependencies.areas[job.purpose]?.start(dependencies, job);
}

/** A queued job whose turn can come. */
interface NextJob extends StartableJob {
  /** Turns that are free now. */
  readonly free: number;
}

/**
 * Gives the free turns of an ended job's workspace to its longest waiting jobs, whose runs wait, and starts the run of the job
 * whose turn can come from now on. What fails here is found by the runs themselves, which poll, and by reconcile.
 */
export async function passTurn(dependencies: TurnDependencies, jobId: JobId): Promise<void> {
  const { db, client, areas, engineSlots } = dependencies;
  const workspace = sql.ref('ended.workspace_id');
  const { rows } = await sql<NextJob>`
    SELECT next.*, ${mostRuns(workspace, engineSlots)} - under_way.runs AS free FROM jobs AS ended
    CROSS JOIN LATERAL (SELECT ${runsUnderWay(workspace)} AS runs) AS under_way
    CROSS JOIN LATERAL (
      SELECT id, workspace_id, article_id, purpose, workflow_id, request_id, traceparent FROM jobs AS waiting
      WHERE waiting.workspace_id = ended.workspace_id AND ended_at IS NULL AND status = 'QUEUED'
      ORDER BY created_at, id
      LIMIT ${OPEN_RUNS}::integer - under_way.runs) AS next
    WHERE ended.id = ${jobId}
  `.execute(db);
  await Promise.allSettled(
    rows.map(async (job, index) => {
      if (index < job.free && (await signalRun(client, job.workflow_id, TURN_FREED))) return;
      if (index < job.free || index === rows.length - 1) await areas[job.purpose]?.start(dependencies, job);
    }),
  );
}
