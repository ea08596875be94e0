import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { releaseHold } from '../credits/holds.ts';
import { releaseBytes } from '../credits/storage-quota.ts';
import type { Tx } from '../db/database.ts';
import type { JobPurpose } from '../db/tables.ts';
import { inTransaction } from '../db/transaction.ts';
import { recordEvents } from '../events/record.ts';
import type { ArticleId, JobId, WorkspaceId } from '../ids.ts';
import { recordAddressChange } from '../projects/addresses.ts';
import { unpublishedEvent } from './events.ts';
import { lockArticle, ownedByJob, whereAllowed } from './lock.ts';

/** Counts what was made for an open job that ends with its article. */
export type CountUnpaid = (
  tx: Tx,
  job: { readonly id: JobId; readonly workspace_id: WorkspaceId; readonly purpose: JobPurpose },
) => Promise<void>;

/**
 * Deletes an article with its jobs, reviews, revisions, redirects and assets, whose bytes are returned to the quota
 * (articles.delete). One that was PUBLISHED emits article.unpublished with status DELETED; any other nothing.
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
      .select('byte_size')
      .where('article_id', '=', articleId)
      .execute();
    // A refresh does not keep its article: it ends with it, and what it held is given back.
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
    const bytes = [...assets.map(({ byte_size }) => byte_size), ...jobs.map(({ held_bytes }) => held_bytes)];
    await releaseBytes(
      tx,
      actor.workspaceId,
      bytes.reduce((sum, each) => sum + each, 0),
    );
    for (const { id } of jobs) await releaseHold(tx, id);
  });
}
