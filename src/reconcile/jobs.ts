import { sql } from 'kysely';
import { releaseHold } from '../credits/holds.ts';
import type { Database } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import type { TemporalNames } from '../temporal/names.ts';
import { runState, type TemporalClient } from '../temporal/runs.ts';
import { endTranslation, freeStrandedArticles } from '../translations/end.ts';
import { startTranslation } from '../translations/runs.ts';

const PAGE = 200;

export interface ReconcileDependencies {
  readonly db: Database;
  readonly client: TemporalClient;
  readonly names: TemporalNames;
  /** What is younger than this is still in the hands of whoever created it; milliseconds. */
  readonly minimumAgeMs: number;
  /** Called now and then with what has been looked at; what it throws stops the work there. */
  readonly onProgress: (looked: number) => void;
  /** Called for a row that could not be looked at; the others are, all the same. */
  readonly onError: (id: string, error: unknown) => void;
}

/**
 * Looks at every open translation that is old enough. A run that Temporal does not know is started; a
 * closed one that left its job open was ended from outside and is never restarted: its job fails.
 */
export async function reconcileJobs(
  dependencies: ReconcileDependencies,
): Promise<{ started: number; ended: number }> {
  const { db, client, names, minimumAgeMs, onProgress, onError } = dependencies;
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
  let last: Position | null = null;
  for (let looked = 0; ; ) {
    const jobs = await openJobs(db, minimumAgeMs, last);
    for (const job of jobs) {
      await look(job).catch((error: unknown) => onError(job.id, error));
      looked += 1;
      onProgress(looked);
    }
    const end = jobs.at(-1);
    if (jobs.length < PAGE || end === undefined) return counts;
    last = { createdAt: end.created_at, id: end.id };
  }
}

interface Position {
  readonly createdAt: Date;
  readonly id: string;
}

/** The next open translations that are old enough, in the order of their creation. */
function openJobs(db: Database, minimumAgeMs: number, after: Position | null) {
  let query = db
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
    .orderBy('jobs.created_at')
    .orderBy('jobs.id')
    .limit(PAGE);
  if (after !== null) {
    query = query.where(
      sql<boolean>`(jobs.created_at, jobs.id) > (${after.createdAt}::timestamptz, ${after.id}::uuid)`,
    );
  }
  return query.execute();
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
