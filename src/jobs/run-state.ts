import { sql } from 'kysely';
import { articleChanged } from '../articles/queries.ts';
import { OWNING } from '../articles/states.ts';
import { isHoldOpen, MissingHoldError, settleHold } from '../credits/holds.ts';
import { releaseBytes } from '../credits/storage-quota.ts';
import type { Queryable, Tx } from '../db/database.ts';
import type { JobStatus } from '../db/tables.ts';
import type { ArticleId, JobId, ProjectId, WorkspaceId } from '../ids.ts';
import type { FirstStep } from './purposes.ts';

/** The workspace of a job that has not ended, which every activity checks first; undefined once it has. */
export async function openJobOf(db: Queryable, jobId: JobId): Promise<WorkspaceId | undefined> {
  const job = await db
    .selectFrom('jobs')
    .select('workspace_id')
    .where('id', '=', jobId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return job?.workspace_id;
}

/** True while the job has not ended. */
export const isJobOpen = async (db: Queryable, jobId: JobId): Promise<boolean> =>
  (await openJobOf(db, jobId)) !== undefined;

/** SQL: the id of a job that has not ended, which it does not before the statement's transaction does. */
export const lockOpenJob = (jobId: JobId) =>
  sql`SELECT id FROM jobs WHERE id = ${jobId} AND ended_at IS NULL FOR SHARE`;

/** The article that a job writes. */
export interface JobTarget {
  readonly id: ArticleId;
  readonly workspace_id: WorkspaceId;
  readonly project_id: ProjectId;
}

/**
 * Locks the article that a job writes. It is always locked before the job, so that these transactions cannot deadlock.
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
 * Takes over the hold for a run, in the caller's transaction: the job enters its first step, an article QUEUED for it
 * becomes PROCESSING. Idempotent.
 * @returns false when the job has ended and the run has nothing to do
 * @throws {MissingHoldError} when an open job has no open hold, which only a fault outside this service could cause
 */
export async function takeOver(tx: Tx, jobId: JobId, first: FirstStep): Promise<boolean> {
  await lockArticleOf(tx, jobId);
  const job = await tx
    .updateTable('jobs')
    .set((eb) => ({
      // A run that an operator has reset continues in its step.
      status: eb.case().when('status', '=', 'QUEUED').then(first.status).else(eb.ref('status')).end(),
      current_step: eb.fn.coalesce('current_step', eb.val(first.step)),
    }))
    .where('id', '=', jobId)
    .where('ended_at', 'is', null)
    .returning(['article_id', 'purpose'])
    .executeTakeFirst();
  if (job === undefined) return false;
  if (!(await isHoldOpen(tx, jobId))) throw new MissingHoldError(`job ${jobId} is open without a hold`);
  // An article that is QUEUED for another job.
  if (!OWNING.includes(job.purpose)) return true;
  await tx
    .updateTable('articles')
    .set({ status: 'PROCESSING', ...articleChanged })
    .where('id', '=', job.article_id)
    .where('status', '=', 'QUEUED')
    .execute();
  return true;
}

/** What a result used of its job's hold. */
export interface Delivered {
  /** Held bytes that it does not need. */
  readonly bytesLeft: number;
  /** Credits to charge of those reserved; all of them when omitted. */
  readonly credits?: number;
}

/**
 * Ends an open job with its result, in the caller's transaction: the job is COMPLETED, `write` writes the result, its
 * price is charged and the rest of the hold released. Ending without a result shares the guard, so whichever commits
 * first wins.
 * @param from the status of a run that has its result
 * @returns false when the job had already ended; nothing is changed then
 * @throws {MissingHoldError} when an open job has no open hold
 * @throws {pg.DatabaseError} when the charge exceeds the reservation, or is negative
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
      // A run that stops after the outline ends in that step.
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
  await tx.deleteFrom('staged_blobs').where('job_id', '=', jobId).execute();
  if (credits !== job.reserved_credits) {
    await tx.updateTable('jobs').set({ consumed_credits: credits }).where('id', '=', jobId).execute();
  }
  await releaseBytes(tx, target.workspace_id, bytesLeft);
  if (!(await settleHold(tx, jobId, credits))) {
    throw new MissingHoldError(`job ${jobId} is open without a hold`);
  }
  return true;
}
