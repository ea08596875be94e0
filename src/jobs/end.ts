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

/** Articles that one round of `reconcile` looks at. */
const MAX_STRANDED = 1_000;

/** How a job ends without a result. */
export type Ending =
  | { readonly status: 'FAILED'; readonly errorMessage: string }
  | { readonly status: 'CANCELLED' };

export type JobEnd = Ending & {
  /** Called for what of the end could not be done, and is left to `reconcile`. */
  readonly onLeftOver: OnLeftOver;
};

/** A job that has ended, with what asks its run to stop. */
export type EndedJob = JobRow & { readonly workflow_id: string; readonly purpose: JobPurpose };

/**
 * Ends an open job without a result: the job keeps its progress, the article becomes what its purpose leaves, and
 * credits and bytes are given back, all in the caller's transaction. Settling shares the guard on the job's
 * status, so whichever commits first wins. What made a job fail may stand in the way of one of these parts, too: the
 * others take effect all the same.
 * @returns the ended job, or null when it had ended before; nothing is changed then
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
  const parts: [string, () => Promise<unknown>][] = [
    ['article', () => freeArticle(tx, job.article_id, job.purpose)],
    ['event', () => tellOfFailure(tx, job, end)],
    ['operation of the month', () => uncountUnasked(tx, job)],
    ['bytes', () => releaseBytes(tx, job.workspace_id, job.held_bytes)],
    ['hold', () => releaseHold(tx, jobId)],
  ];
  for (const [part, work] of parts) {
    await inSavepoint(tx, work, (error) => end.onLeftOver(`${part} of job ${jobId}`, error));
  }
  return job;
}

/** article.generation.failed, which goes with a generation that failed; one that was cancelled tells nothing. */
async function tellOfFailure(
  tx: Tx,
  job: EndedJob & { readonly request_id: string | null },
  end: Ending,
): Promise<void> {
  if (job.kind !== 'generation' || end.status !== 'FAILED') return;
  const origin = { actor: { workspaceId: job.workspace_id }, requestId: job.request_id ?? '' };
  const data = { articleId: job.article_id, jobId: job.id, error: end.errorMessage };
  await recordEvents(tx, origin, [{ type: 'article.generation.failed', data }]);
}

/** Gives back the operation that admission counted, to its month, when no model was asked. */
async function uncountUnasked(tx: Tx, job: EndedJob): Promise<void> {
  if (!PURPOSES[job.purpose].countsAsOperation || job.current_step === 'outline') return;
  await uncountOperation(tx, job.workspace_id, job.created_at.toISOString().slice(0, 7));
}

/** Makes an article that a job owned what its purpose leaves: a draft, of a translation the empty one that it began as. */
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
 * Frees every article whose owning job has ended, and which is still that job's: what ended it could not write the
 * article at that moment.
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
