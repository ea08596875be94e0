import { sql } from 'kysely';
import { releaseHold } from '../credits/holds.ts';
import type { Database } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { runState, type TemporalClient } from '../temporal/workflow-client.ts';
import { endTranslation, freeStrandedArticles } from '../translations/end.ts';
import { startTranslation } from '../translations/runs.ts';
import { lookAtEach, PAGE, type Position, type Watcher } from './rows.ts';

export interface ReconcileDependencies extends Watcher {
  readonly db: Database;
  readonly client: TemporalClient;
  readonly names: TaskQueues;
  /** What is younger than this is left to its creator; milliseconds. */
  readonly minimumAgeMs: number;
}

/**
 * Looks at every open translation that is old enough. A run that Temporal does not know is started; a
 * closed one that left its job open was ended from outside and is never restarted: its job fails.
 */
export async function reconcileJobs(
  dependencies: ReconcileDependencies,
): Promise<{ started: number; ended: number }> {
  const { db, client, names, minimumAgeMs, onError } = dependencies;
  const counts = { started: 0, ended: 0 };
  const look = async (job: Awaited<ReturnType<typeof openJobs>>[number]) => {
    const state = await runState(client, job.workflow_id);
    if (state === 'unknown') {
      await startTranslation(client, names, job);
      counts.started += 1;
    } else if (state !== 'running') {
      const ended = await inTransaction(db, (tx) =>
        endTranslation(tx, job.id, {
          status: 'FAILED',
          errorMessage: 'The translation was stopped by an operator. Nothing was charged.',
          onLeftOver: onError,
        }),
      );
      if (ended !== null) counts.ended += 1;
    }
  };
  await freeStrandedArticles(db, onError);
  await lookAtEach(dependencies, (last) => openJobs(db, minimumAgeMs, last), look);
  return counts;
}

/** The next open translations that are old enough, in the order of their creation. */
function openJobs(db: Database, minimumAgeMs: number, after: Position) {
  return db
    .selectFrom('jobs')
    .innerJoin('translations', 'translations.job_id', 'jobs.id')
    .select([
      'jobs.id',
      'jobs.workspace_id',
      'jobs.article_id',
      'jobs.workflow_id',
      'jobs.request_id',
      'jobs.created_at',
      'translations.source_language',
      'translations.target_language',
    ])
    .where('jobs.ended_at', 'is', null)
    .where('jobs.created_at', '<', sql<Date>`now() - make_interval(secs => ${minimumAgeMs / 1000})`)
    .where(sql<boolean>`(jobs.created_at, jobs.id) > (${after.created_at}::timestamptz, ${after.id}::uuid)`)
    .orderBy('jobs.created_at')
    .orderBy('jobs.id')
    .limit(PAGE)
    .execute();
}

/**
 * Releases holds of translations and AI operations that are gone or have ended. No path of this service leaves one; a
 * restored backup or a hand in the database might.
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
