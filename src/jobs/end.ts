import { sql } from 'kysely';
import { isOwned } from '../articles/lock.ts';
import { articleChanged } from '../articles/queries.ts';
import { JOB_OWNED, OWNING } from '../articles/states.ts';
import { releaseHold } from '../credits/holds.ts';
import { uncountOperation } from '../credits/operations-quota.ts';
import { releaseBytes } from '../credits/storage-quota.ts';
import type { Database, Tx } from '../db/database.ts';
import { inSavepoint, type OnLeftOver } from '../db/savepoint.ts';
import type { JobPurpose } from '../db/tables.ts';
import { inTransaction } from '../db/transaction.ts';
import { EMPTY_DOCUMENT } from '../document/format/schema.ts';
import { recordEvents } from '../events/record.ts';
import type { ArticleId, JobId } from '../ids.ts';
import { PURPOSES } from './purposes.ts';
import { type JobRow, jobColumns } from './queries.ts';
import { lockArticleOf } from './run-state.ts';

/** Articles per round of `reconcile`. */
const MAX_STRANDED = 1_000;

/** How a job ends without a result. */
export type Ending =
  | { readonly status: 'FAILED'; readonly errorMessage: string }
  | { readonly status: 'CANCELLED' };

export type JobEnd = Ending & {
  /** Called for a part of the end that failed and is left to `reconcile`. */
  readonly onLeftOver: OnLeftOver;
};

/** A job that has ended, with what is needed to cancel its run. */
export type EndedJob = JobRow & { readonly workflow_id: string; readonly purpose: JobPurpose };

/**
 * Ends an open job without a result, in the caller's transaction: the job keeps its progress, the article becomes what
 * its purpose leaves, credits and bytes are released. Settling shares the guard on the job's status, so whichever
 * commits first wins. A part that fails, maybe for the reason that the job did, does not stop the others.
 * @returns the ended job, or null when it had already ended; nothing is changed then
 */
export async function endJob(tx: Tx, jobId: JobId, end: JobEnd): Promise<EndedJob | null> {
  await lockArticleOf(tx, jobId);
  const job = await tx
    .updateTable('jobs')
    .set((eb) => ({
      status: end.status,
      ended_at: eb.fn('now'),
      ...(end.status === 'FAILED'
        ? {
            error_code: sql<
              'TRANSLATION_FAILED' | 'GENERATION_FAILED'
            >`CASE kind WHEN 'translation' THEN 'TRANSLATION_FAILED' ELSE 'GENERATION_FAILED' END`,
            error_message: end.errorMessage,
          }
        : {}),
    }))
    .where('id', '=', jobId)
    .where('ended_at', 'is', null)
    .returning([...jobColumns, 'purpose', 'held_bytes', 'workflow_id', 'request_id'])
    .executeTakeFirst();
  if (job === undefined) return null;
  await tx.deleteFrom('staged_blobs').where('job_id', '=', jobId).execute();
  // As large as its article, and of use only once it is split into texts: else jobs without end could fill the disk for nothing.
  await tx
    .updateTable('translations')
    .set({ snapshot: null })
    .where('job_id', '=', jobId)
    .where('batch_count', 'is', null)
    .execute();
  const parts: [string, () => Promise<unknown>][] = [
    ['article', () => freeArticle(tx, job.article_id, job.purpose)],
    ['event', () => recordFailureEvent(tx, job, end)],
    ['operation of the month', () => uncountUnused(tx, job)],
    ['bytes', () => releaseBytes(tx, job.workspace_id, job.held_bytes)],
    ['hold', () => releaseHold(tx, jobId)],
  ];
  for (const [part, work] of parts) {
    await inSavepoint(tx, work, (error) => end.onLeftOver(`${part} of job ${jobId}`, error));
  }
  return job;
}

/** Stores article.generation.failed for a failed generation of an article; a cancelled one has no event. */
async function recordFailureEvent(
  tx: Tx,
  job: EndedJob & { readonly request_id: string | null },
  end: Ending,
): Promise<void> {
  const { kind, leaves } = PURPOSES[job.purpose];
  if (kind !== 'generation' || leaves === null || end.status !== 'FAILED') return;
  const origin = { actor: { workspaceId: job.workspace_id }, requestId: job.request_id ?? '' };
  const data = { articleId: job.article_id, jobId: job.id, error: end.errorMessage };
  await recordEvents(tx, origin, [{ type: 'article.generation.failed', data }]);
}

/** Subtracts the operation counted at admission from its month, when no model was called. */
async function uncountUnused(tx: Tx, job: EndedJob): Promise<void> {
  if (!PURPOSES[job.purpose].countsAsOperation || job.current_step === 'outline') return;
  await uncountOperation(tx, job.workspace_id, job.created_at.toISOString().slice(0, 7));
}

/** Makes a job's article what its purpose leaves: a draft, or for a translation an empty draft. */
async function freeArticle(tx: Tx, articleId: ArticleId, purpose: JobPurpose): Promise<void> {
  const { leaves } = PURPOSES[purpose];
  if (leaves === null) return;
  const empty = { document: EMPTY_DOCUMENT, word_count: 0 };
  await tx
    .updateTable('articles')
    .set({
      status: 'DRAFT',
      ...articleChanged,
      ...(leaves === 'empty draft' ? empty : {}),
    })
    .where('id', '=', articleId)
    .where('status', 'in', JOB_OWNED)
    .execute();
}

/**
 * Frees every article still owned by a job that has ended: the end could not write it at that moment.
 * @returns how many there were
 */
export async function freeStrandedArticles(db: Database, onLeftOver: OnLeftOver): Promise<number> {
  const stranded = await db
    .selectFrom('articles')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('jobs')
          .select(['jobs.purpose', 'jobs.ended_at'])
          .whereRef('jobs.article_id', '=', 'articles.id')
          .where('jobs.purpose', 'in', OWNING)
          .orderBy('jobs.created_at', 'desc')
          .orderBy('jobs.id', 'desc')
          .limit(1)
          .as('latest'),
      (join) => join.onTrue(),
    )
    .select(['articles.id', 'latest.purpose'])
    .where('articles.status', 'in', JOB_OWNED)
    .where('latest.ended_at', 'is not', null)
    .limit(MAX_STRANDED)
    .execute();
  let freed = 0;
  for (const { id, purpose } of stranded) {
    freed += await inTransaction(db, async (tx) => {
      await tx.selectFrom('articles').select('id').where('id', '=', id).forUpdate().execute();
      if (await isOwned(tx, id)) return 0;
      const done = await inSavepoint(
        tx,
        () => freeArticle(tx, id, purpose),
        (error) => onLeftOver(`article ${id}`, error),
      );
      return done ? 1 : 0;
    });
  }
  return freed;
}
