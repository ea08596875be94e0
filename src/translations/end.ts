import { sql } from 'kysely';
import { releaseHold } from '../credits/holds.ts';
import { releaseBytes } from '../credits/storage-quota.ts';
import type { Database, Tx } from '../db/database.ts';
import { inSavepoint, type OnLeftOver } from '../db/savepoint.ts';
import { inTransaction } from '../db/transaction.ts';
import type { ArticleId, JobId } from '../ids.ts';
import { type JobRow, jobColumns } from '../jobs/queries.ts';
import { EMPTY_DOCUMENT } from './draft.ts';
import { lockArticleOf } from './run-state.ts';

/** Articles that one round of `reconcile` looks at. */
const MAX_STRANDED = 1_000;

export type JobEnd = (
  | { readonly status: 'FAILED'; readonly errorMessage: string }
  | { readonly status: 'CANCELLED' }
) & {
  /** Called for what of the end could not be done, and is left to `reconcile`. */
  readonly onLeftOver: OnLeftOver;
};

/**
 * Ends an open translation without a result: the job keeps its progress, the article becomes the empty
 * draft that a later request may reuse, and credits and bytes are given back, all in the caller's
 * transaction. Settling shares the guard on the job's status, so whichever commits first wins. What made a job fail
 * may stand in the way of one of these parts, too: the others take effect all the same.
 * @returns the ended job, or null when it had ended before; nothing is changed then
 */
export async function endTranslation(tx: Tx, jobId: JobId, end: JobEnd): Promise<JobRow | null> {
  await lockArticleOf(tx, jobId);
  const job = await tx
    .updateTable('jobs')
    .set((eb) => ({
      status: end.status,
      ended_at: eb.fn('now'),
      ...(end.status === 'FAILED'
        ? { error_code: 'TRANSLATION_FAILED' as const, error_message: end.errorMessage }
        : {}),
    }))
    .where('id', '=', jobId)
    .where('kind', '=', 'translation')
    .where('ended_at', 'is', null)
    .returning([...jobColumns, 'held_bytes'])
    .executeTakeFirst();
  if (job === undefined) return null;
  const parts: [string, () => Promise<unknown>][] = [
    ['article', () => emptyDraft(tx, job.article_id)],
    ['bytes', () => releaseBytes(tx, job.workspace_id, job.held_bytes)],
    ['hold', () => releaseHold(tx, jobId)],
  ];
  for (const [part, work] of parts) {
    await inSavepoint(tx, work, (error) => end.onLeftOver(`${part} of job ${jobId}`, error));
  }
  return job;
}

/** Makes an article that a translation owned the empty draft that it began as. */
async function emptyDraft(tx: Tx, articleId: ArticleId): Promise<void> {
  await tx
    .updateTable('articles')
    .set((eb) => ({
      status: 'DRAFT',
      document: JSON.stringify(EMPTY_DOCUMENT),
      word_count: 0,
      updated_at: eb.fn('now'),
    }))
    .where('id', '=', articleId)
    .where('status', 'in', ['QUEUED', 'PROCESSING'])
    .execute();
}

/**
 * Makes every article whose translation has ended, and which is still that translation's, an empty draft: what
 * ended it could not write the article at that moment.
 * @returns how many there were
 */
export async function freeStrandedArticles(db: Database, onLeftOver: OnLeftOver): Promise<number> {
  const stranded = await db
    .selectFrom('articles')
    .select('id')
    .where('status', 'in', ['QUEUED', 'PROCESSING'])
    .where(
      sql<boolean>`(SELECT kind = 'translation' AND ended_at IS NOT NULL FROM jobs
        WHERE jobs.article_id = articles.id ORDER BY created_at DESC, id DESC LIMIT 1)`,
    )
    .limit(MAX_STRANDED)
    .execute();
  let freed = 0;
  for (const { id } of stranded) {
    freed += await inTransaction(db, async (tx) => {
      await tx.selectFrom('articles').select('id').where('id', '=', id).forUpdate().execute();
      // A separate statement, so that it sees a job created while this one waited for the article.
      const open = await tx
        .selectFrom('jobs')
        .select('id')
        .where('article_id', '=', id)
        .where('ended_at', 'is', null)
        .executeTakeFirst();
      if (open !== undefined) return 0;
      const emptied = await inSavepoint(
        tx,
        () => emptyDraft(tx, id),
        (error) => onLeftOver(`article ${id}`, error),
      );
      return emptied ? 1 : 0;
    });
  }
  return freed;
}
