import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { releaseHold } from '../credits/holds.ts';
import { releaseBytes, storedBytes } from '../credits/storage-quota.ts';
import type { Tx } from '../db/database.ts';
import type { JobPurpose } from '../db/tables.ts';
import { inTransaction } from '../db/transaction.ts';
import { recordEvents } from '../events/record.ts';
import type { ArticleId, JobId, WorkspaceId } from '../ids.ts';
import { recordAddressChange } from '../projects/addresses.ts';
import { unpublishedEvent } from './events.ts';
import { lockArticle, ownedByJob, whereAllowed } from './lock.ts';

/** Counts the unpaid work of an open job that ends with its article. */
export type CountUnpaid = (
  tx: Tx,
  job: { readonly id: JobId; readonly workspace_id: WorkspaceId; readonly purpose: JobPurpose },
) => Promise<void>;

/**
 * Deletes an article with its jobs, reviews, revisions, redirects and assets, and returns its bytes to the quota
 * (articles.delete). A PUBLISHED one emits article.unpublished with status DELETED.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`
 */
export async function deleteArticle(
  context: VerbContext,
  articleId: ArticleId,
  countUnpaid: CountUnpaid,
): Promise<void> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.delete');
  await inTransaction(db, async (tx) => {
    const article = await lockArticle(tx, actor.workspaceId, articleId, 'delete');
    const assets = await tx
      .selectFrom('assets')
      .select(storedBytes.as('bytes'))
      .where('article_id', '=', articleId)
      .execute();
    // An open refresh does not block the deletion: it ends, and its hold is released.
    const jobs = await tx
      .selectFrom('jobs')
      .select(['id', 'workspace_id', 'purpose', 'held_bytes'])
      .where('article_id', '=', articleId)
      .where('ended_at', 'is', null)
      .forUpdate()
      .execute();
    for (const job of jobs) await countUnpaid(tx, job);
    const deleted = await tx
      .deleteFrom('articles')
      .where('id', '=', articleId)
      .where(whereAllowed('delete'))
      .executeTakeFirst();
    if (deleted.numDeletedRows === 0n) throw ownedByJob();
    if (article.status === 'PUBLISHED') {
      await recordEvents(tx, context, [unpublishedEvent(article, 'DELETED')]);
      await recordAddressChange(tx, context, article);
    }
    await recordAudit(tx, context, {
      action: 'articles.deleted',
      targetType: 'article',
      targetId: articleId,
      details: { title: article.title, status: article.status },
    });
    const bytes = [
      ...assets.map((asset) => Number(asset.bytes)),
      ...jobs.map(({ held_bytes }) => held_bytes),
    ];
    await releaseBytes(
      tx,
      actor.workspaceId,
      bytes.reduce((sum, each) => sum + each, 0),
    );
    for (const { id } of jobs) await releaseHold(tx, id);
  });
}
