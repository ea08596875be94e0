import { releaseHold } from '../credits/holds.ts';
import { releaseBytes } from '../credits/storage-quota.ts';
import type { Tx } from '../db/database.ts';
import type { JobId } from '../ids.ts';
import { type JobRow, jobColumns } from '../jobs/queries.ts';
import { EMPTY_DOCUMENT } from './draft.ts';

export type JobEnd =
  | { readonly status: 'FAILED'; readonly errorMessage: string }
  | { readonly status: 'CANCELLED' };

/**
 * Ends an open translation without a result: the job keeps its progress, the article becomes the empty
 * draft that a later request may reuse, and credits and bytes are given back, all in the caller's
 * transaction. Settling shares the guard on the job's status, so whichever commits first wins.
 * @returns the ended job, or null when it had ended before; nothing is changed then
 */
export async function endTranslation(tx: Tx, jobId: JobId, end: JobEnd): Promise<JobRow | null> {
  // Article before job, as everywhere: the lock order keeps cancel and settle from deadlocking.
  await tx
    .selectFrom('articles')
    .innerJoin('jobs', 'jobs.article_id', 'articles.id')
    .select('articles.id')
    .where('jobs.id', '=', jobId)
    .forUpdate('articles')
    .execute();
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
  await tx
    .updateTable('articles')
    .set((eb) => ({
      status: 'DRAFT',
      document: JSON.stringify(EMPTY_DOCUMENT),
      word_count: 0,
      updated_at: eb.fn('now'),
    }))
    .where('id', '=', job.article_id)
    .where('status', 'in', ['QUEUED', 'PROCESSING'])
    .execute();
  await releaseBytes(tx, job.workspace_id, job.held_bytes);
  await releaseHold(tx, jobId);
  return job;
}
