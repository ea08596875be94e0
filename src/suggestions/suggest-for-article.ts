import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { notFound } from '../errors.ts';
import type { ArticleId } from '../ids.ts';
import { type ReservedOperation, reserveOperation } from './operations.ts';
import { SUGGESTION_CREDITS } from './price.ts';

/**
 * Reserves a suggestion of categories for an article. The caller runs it afterwards.
 *
 * @throws {ServiceError} RESOURCE_NOT_FOUND, INSUFFICIENT_CREDITS or QUOTA_EXCEEDED; nothing is left behind then
 */
export async function suggestForArticle(
  context: VerbContext,
  { articleId }: { articleId: ArticleId },
): Promise<ReservedOperation> {
  requirePermissions(context.actor, 'articles.update');
  return inTransaction(context.db, async (tx) => {
    const article = await tx
      .selectFrom('articles')
      .select('id')
      .where('workspace_id', '=', context.actor.workspaceId)
      .where('id', '=', articleId)
      .executeTakeFirst();
    if (article === undefined) throw notFound('article');
    return reserveOperation(tx, context, {
      kind: 'article_categories',
      targetId: articleId,
      credits: SUGGESTION_CREDITS,
      audit: { action: 'categories.suggested', targetType: 'article' },
    });
  });
}
