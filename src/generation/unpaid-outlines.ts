/** Outlines that cost nothing are unpaid work until their article is written (contract.md G63). */
import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { ArticleId, JobId, WorkspaceId } from '../ids.ts';
import { recordUnpaid } from '../jobs/unpaid.ts';
import { generationArea } from './area.ts';

/** Counts the outline of a run that ended with it. The transaction has taken the lock of the wallet. */
export async function countOutline(tx: Tx, job: { id: JobId; workspace_id: WorkspaceId }): Promise<void> {
  await recordUnpaid(tx, job, 'failed', await generationArea.wordsMade(tx, job.id, 'failed'));
}

/** Takes out the outlines of an article that is paid for. The transaction has taken the lock of the wallet. */
export async function takeOutOutlines(tx: Tx, articleId: ArticleId): Promise<void> {
  await sql`
    DELETE FROM unpaid_work USING jobs
    WHERE unpaid_work.job_id = jobs.id AND jobs.article_id = ${articleId}
      AND jobs.purpose = 'outline' AND jobs.status = 'COMPLETED'`.execute(tx);
}
