import { isHoldOpen, MissingHoldError } from '../credits/holds.ts';
import type { Database, Queryable, Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import type { JobId } from '../ids.ts';

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

/**
 * Locks the article that a job writes, which comes before the job everywhere: this order keeps what moves a job from
 * deadlocking.
 */
export const lockArticleOf = (tx: Tx, jobId: JobId) =>
  tx
    .selectFrom('articles')
    .innerJoin('jobs', 'jobs.article_id', 'articles.id')
    .select(['articles.id', 'articles.workspace_id', 'articles.project_id'])
    .where('jobs.id', '=', jobId)
    .forUpdate('articles')
    .executeTakeFirst();

/**
 * Takes the hold over for a run: job TRANSLATING, article PROCESSING. Running it again changes nothing.
 * @returns false when the job has ended, so that the run has nothing to do
 * @throws {MissingHoldError} when an open job has no open hold, which only a fault outside this service could cause
 */
export async function takeOver(db: Database, jobId: JobId): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    await lockArticleOf(tx, jobId);
    const job = await tx
      .updateTable('jobs')
      .set({ status: 'TRANSLATING', current_step: 'translate' })
      .where('id', '=', jobId)
      .where('status', 'in', ['QUEUED', 'TRANSLATING'])
      .returning('article_id')
      .executeTakeFirst();
    if (job === undefined) return false;
    if (!(await isHoldOpen(tx, jobId))) throw new MissingHoldError(`job ${jobId} is open without a hold`);
    await tx
      .updateTable('articles')
      .set((eb) => ({ status: 'PROCESSING', updated_at: eb.fn('now') }))
      .where('id', '=', job.article_id)
      .where('status', '=', 'QUEUED')
      .execute();
    return true;
  });
}
