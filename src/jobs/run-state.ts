import { articleChanged } from '../articles/queries.ts';
import { isHoldOpen, MissingHoldError, settleHold } from '../credits/holds.ts';
import { releaseBytes } from '../credits/storage-quota.ts';
import type { Database, Queryable, Tx } from '../db/database.ts';
import type { JobStatus } from '../db/tables.ts';
import { inTransaction } from '../db/transaction.ts';
import type { ArticleId, JobId, ProjectId, WorkspaceId } from '../ids.ts';
import type { FirstStep } from './purposes.ts';

/** True while the job has not ended; every activity checks it first. */
export async function isJobOpen(db: Queryable, jobId: JobId): Promise<boolean> {
  const job = await db
    .selectFrom('jobs')
    .select('id')
    .where('id', '=', jobId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return job !== undefined;
}

/** The article that a job writes. */
export interface JobTarget {
  readonly id: ArticleId;
  readonly workspace_id: WorkspaceId;
  readonly project_id: ProjectId;
}

/**
 * Locks the article that a job writes, which comes before the job everywhere: this order keeps what moves a job from
 * deadlocking.
 */
export const lockArticleOf = (tx: Tx, jobId: JobId): Promise<JobTarget | undefined> =>
  tx
    .selectFrom('articles')
    .innerJoin('jobs', 'jobs.article_id', 'articles.id')
    .select(['articles.id', 'articles.workspace_id', 'articles.project_id'])
    .where('jobs.id', '=', jobId)
    .forUpdate('articles')
    .executeTakeFirst();

/**
 * Takes the hold over for a run: the job enters its first step, an article that was QUEUED for it is PROCESSING.
 * Running it again changes nothing.
 * @returns false when the job has ended, so that the run has nothing to do
 * @throws {MissingHoldError} when an open job has no open hold, which only a fault outside this service could cause
 */
export const takeOver = (db: Database, jobId: JobId, first: FirstStep): Promise<boolean> =>
  inTransaction(db, (tx) => takeOverIn(tx, jobId, first));

/** The same in the caller's transaction. */
export async function takeOverIn(tx: Tx, jobId: JobId, first: FirstStep): Promise<boolean> {
  await lockArticleOf(tx, jobId);
  const job = await tx
    .updateTable('jobs')
    .set((eb) => ({
      // A run that an operator has reset goes on where it was.
      status: eb.case().when('status', '=', 'QUEUED').then(first.status).else(eb.ref('status')).end(),
      current_step: eb.fn.coalesce('current_step', eb.val(first.step)),
    }))
    .where('id', '=', jobId)
    .where('ended_at', 'is', null)
    .returning('article_id')
    .executeTakeFirst();
  if (job === undefined) return false;
  if (!(await isHoldOpen(tx, jobId))) throw new MissingHoldError(`job ${jobId} is open without a hold`);
  await tx
    .updateTable('articles')
    .set({ status: 'PROCESSING', ...articleChanged })
    .where('id', '=', job.article_id)
    .where('status', '=', 'QUEUED')
    .execute();
  return true;
}

/** What a result needed of what its job held. */
export interface Delivered {
  /** Held bytes that it does not need. */
  readonly bytesLeft: number;
  /** What is charged, of the credits reserved; all of them when it is not given. */
  readonly credits?: number;
}

/**
 * Ends an open job with its result, in the caller's transaction: the job is COMPLETED, `write` writes what it made, what
 * that costs is charged and the rest of the hold released. Ending it without a result shares the guard, so whichever
 * commits first wins.
 * @param from the status of a run that has its result
 * @returns false when the job had ended before; nothing is changed then
 * @throws {MissingHoldError} when an open job has no open hold
 * @throws {pg.DatabaseError} when more is to be charged than was reserved, or less than nothing
 */
export async function settleJob(
  tx: Tx,
  jobId: JobId,
  from: JobStatus,
  write: (target: JobTarget) => Promise<Delivered>,
): Promise<boolean> {
  const target = await lockArticleOf(tx, jobId);
  if (target === undefined) return false;
  const job = await tx
    .updateTable('jobs')
    .set((eb) => ({
      status: 'COMPLETED',
      // A run that is to stop after the outline ends in that step.
      current_step: from === 'OUTLINING' ? 'outline' : 'finalize',
      progress: 100,
      consumed_credits: eb.ref('reserved_credits'),
      ended_at: eb.fn('now'),
    }))
    .where('id', '=', jobId)
    .where('status', '=', from)
    .returning('reserved_credits')
    .executeTakeFirst();
  if (job === undefined) return false;
  const { bytesLeft, credits = job.reserved_credits } = await write(target);
  if (credits !== job.reserved_credits) {
    await tx.updateTable('jobs').set({ consumed_credits: credits }).where('id', '=', jobId).execute();
  }
  await releaseBytes(tx, target.workspace_id, bytesLeft);
  if (!(await settleHold(tx, jobId, credits))) {
    throw new MissingHoldError(`job ${jobId} is open without a hold`);
  }
  return true;
}
