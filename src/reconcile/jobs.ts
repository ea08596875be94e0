import { sql } from 'kysely';
import { releaseHold } from '../credits/holds.ts';
import type { Watcher } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import type { JobPurpose } from '../db/tables.ts';
import { inTransaction } from '../db/transaction.ts';
import { isLivingWorkspace } from '../db/workspace-state.ts';
import { endJob, freeStrandedArticles } from '../jobs/end.ts';
import type { JobAreas } from '../jobs/runs.ts';
import { passTurn } from '../jobs/turns.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { cancelRun, runState, type TemporalClient } from '../temporal/workflow-client.ts';
import { forEachRow, PAGE, type Position } from './rows.ts';

export interface ReconcileDependencies extends Watcher {
  readonly db: Database;
  readonly client: TemporalClient;
  readonly names: TaskQueues;
  readonly areas: JobAreas;
  /** Younger ones are left to their creator; milliseconds. */
  readonly minimumAgeMs: number;
}

/**
 * Checks every open job that is old enough, of the purposes that this release starts. A run that Temporal does not know
 * is started; a closed run that left its job open was ended from outside and is never restarted: its job fails. So does a job of a deleted
 * workspace.
 */
export async function reconcileJobs(
  dependencies: ReconcileDependencies,
): Promise<{ started: number; ended: number }> {
  const { db, client, areas, onError } = dependencies;
  const counts = { started: 0, ended: 0 };
  const end = async ({ id }: OpenJob, errorMessage: string) => {
    const ended = await inTransaction(db, (tx) =>
      endJob(tx, id, { status: 'FAILED', errorMessage, onLeftOver: onError }),
    );
    if (ended === null) return;
    counts.ended += 1;
    await passTurn(dependencies, id);
  };
  const reconcileOne = async (job: OpenJob) => {
    const state = await runState(client, job.workflow_id);
    if (job.gone) {
      // Queued while the workspace was being deleted.
      await end(job, 'The workspace was deleted. Nothing was charged.');
      if (state === 'running') await cancelRun(client, job.workflow_id);
    } else if (state === 'unknown') {
      await areas[job.purpose]?.start(dependencies, job);
      counts.started += 1;
    } else if (state !== 'running') {
      await end(job, `The ${job.kind} was stopped by an operator. Nothing was charged.`);
    }
  };
  await freeStrandedArticles(db, onError);
  await forEachRow(dependencies, (last) => openJobs(dependencies, last), reconcileOne);
  return counts;
}

type OpenJob = Awaited<ReturnType<typeof openJobs>>[number];

/** The next open jobs that are old enough, in the order of their creation. */
function openJobs({ db, areas, minimumAgeMs }: ReconcileDependencies, after: Position) {
  return db
    .selectFrom('jobs')
    .select([
      'id',
      'kind',
      'purpose',
      'workspace_id',
      'article_id',
      'workflow_id',
      'request_id',
      'created_at',
    ])
    .select(sql<boolean>`NOT ${isLivingWorkspace(sql.ref('jobs.workspace_id'))}`.as('gone'))
    .where('ended_at', 'is', null)
    .where('purpose', 'in', Object.keys(areas) as JobPurpose[])
    .where('created_at', '<', sql<Date>`now() - make_interval(secs => ${minimumAgeMs / 1000})`)
    .where(sql<boolean>`(created_at, id) > (${after.created_at}::timestamptz, ${after.id}::uuid)`)
    .orderBy('created_at')
    .orderBy('id')
    .limit(PAGE)
    .execute();
}

/**
 * Releases holds of jobs and AI operations that are gone or have ended. This code leaves none; a restored backup or
 * manual changes might.
 */
export async function releaseStrandedHolds({
  db,
  minimumAgeMs,
  onError,
}: Pick<ReconcileDependencies, 'db' | 'minimumAgeMs' | 'onError'>): Promise<number> {
  const stranded = await db
    .selectFrom('holds')
    .select('run_id')
    .where('status', '=', 'open')
    .where('created_at', '<', sql<Date>`now() - make_interval(secs => ${minimumAgeMs / 1000})`)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('jobs')
            .select('jobs.id')
            .whereRef('jobs.id', '=', 'holds.run_id')
            .where('jobs.ended_at', 'is', null),
        ),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('ai_operations')
            .select('ai_operations.id')
            .whereRef('ai_operations.id', '=', 'holds.run_id')
            .where('ai_operations.status', '=', 'open'),
        ),
      ),
    )
    .execute();
  let released = 0;
  for (const { run_id } of stranded) {
    // A wallet that cannot be written must not keep other workspaces' credits.
    const ended = await inTransaction(db, (tx) => releaseHold(tx, run_id)).catch((error: unknown) =>
      onError(run_id, error),
    );
    if (ended === true) released += 1;
  }
  return released;
}
