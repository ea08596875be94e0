import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import type { ArticleId } from '../ids.ts';
import { moveArticle } from './move.ts';
import { type ShownArticle, showArticle } from './show.ts';

/**
 * Submits an article for review (articles.update): DRAFT or CHANGES_REQUESTED becomes NEEDS_REVIEW.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`, `no_content` or `status`
 */
export async function submitArticle(context: VerbContext, articleId: ArticleId): Promise<ShownArticle> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.update');
  return inTransaction(db, async (tx) => {
    const { before, after } = await moveArticle(tx, actor.workspaceId, articleId, 'submit');
    await recordAudit(tx, context, {
      action: 'articles.submitted',
      targetType: 'article',
      targetId: articleId,
      details: { previousStatus: before.status },
    });
    return showArticle(tx, after);
  });
}
