import { sql } from 'kysely';
import type { JobPurpose } from '../db/tables.ts';
import { inTransaction } from '../db/transaction.ts';
import { isLivingWorkspace } from '../db/workspace-state.ts';
import { endJob, freeStrandedArticles } from '../jobs/end.ts';
import type { JobAreas } from '../jobs/start.ts';
import { isNext, passTurn, type TurnLimits } from '../jobs/turns.ts';
import { cancelRun, runState } from '../temporal/workflow-client.ts';
import { PAGE, type ReconcileDependencies, type RowPlace, type Step, type Walk, walkRows } from './rows.ts';

export interface JobDependencies extends ReconcileDependencies, Pick<TurnLimits, 'engineSlots'> {
  readonly areas: JobAreas;
}

/**
 * Checks every open job that is old enough, of the purposes that this release starts, but those queued behind others. A run
 * that Temporal does not know is started; a closed run that left its job open was ended from outside and is never
 * restarted: its job fails. So does a job of a deleted workspace.
 */
export async function reconcileJobs(
  dependencies: JobDependencies,
  walk: Walk<RowPlace>,
): Promise<{ started: number; ended: number } & Step<RowPlace>> {
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
  if (walk.from === null) await freeStrandedArticles(db, onError);
  const last = await walkRows(walk, onError, (after) => openJobs(dependencies, after), reconcileOne);
  return { ...counts, last };
}

type OpenJob = Awaited<ReturnType<typeof openJobs>>[number];

/** The next open jobs that are old enough, in the order of their creation. */
function openJobs({ db, areas, minimumAgeMs }: JobDependencies, after: RowPlace) {
  const gone = sql<boolean>`NOT ${isLivingWorkspace(sql.ref('jobs.workspace_id'))}`;
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
      'traceparent',
      'created_at',
    ])
    .select(gone.as('gone'))
    .where('ended_at', 'is', null)
    .where('purpose', 'in', Object.keys(areas) as JobPurpose[])
    .where(sql<boolean>`(status <> 'QUEUED' OR ${gone} OR ${isNext('jobs')})`)
    .where('created_at', '<', sql<Date>`now() - make_interval(secs => ${minimumAgeMs / 1000})`)
    .where(sql<boolean>`(created_at, id) > (${after.createdAt}::timestamptz, ${after.id}::uuid)`)
    .orderBy('created_at')
    .orderBy('id')
    .limit(PAGE)
    .execute();
}
