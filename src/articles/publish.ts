import { requirePermissions, type VerbContext } from '../context.ts';
import { recordChange } from '../events/record.ts';
import type { ArticleId } from '../ids.ts';
import { articleSetOf, unpublishedEvent } from './events.ts';
import { lockArticleToMove } from './lock.ts';
import { moveArticle, moveLocked } from './move.ts';
import { withRenderings } from './prepare.ts';
import { renderLinkers } from './render.ts';
import { type ArticleResponse, toArticle } from './schemas.ts';

/**
 * Publishes an APPROVED article (articles.publish). Emits article.published; articles that link to it are
 * rendered again.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`, `no_content` or `status`
 */
export async function publishArticle(context: VerbContext, articleId: ArticleId): Promise<ArticleResponse> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.publish');
  return withRenderings(db, async (tx, render) => {
    const before = await lockArticleToMove(tx, actor.workspaceId, articleId, 'publish');
    const [{ rendering }] = await render(tx, [before]);
    const after = await moveLocked(tx, articleId, 'publish', rendering);
    await recordChange(
      tx,
      context,
      { action: 'articles.published', targetType: 'article', targetId: articleId },
      [{ type: 'article.published', data: articleSetOf(after) }],
    );
    await renderLinkers(tx, context, render, after);
    return toArticle(after);
  });
}

/**
 * Takes a PUBLISHED article back to DRAFT (articles.publish); publishedAt stays. Emits article.unpublished;
 * articles that link to it are rendered again.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running` or `status`
 */
export async function unpublishArticle(context: VerbContext, articleId: ArticleId): Promise<ArticleResponse> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.publish');
  return withRenderings(db, async (tx, render) => {
    const { after } = await moveArticle(tx, actor.workspaceId, articleId, 'unpublish');
    await recordChange(
      tx,
      context,
      { action: 'articles.unpublished', targetType: 'article', targetId: articleId },
      [unpublishedEvent(after, after.status)],
    );
    await renderLinkers(tx, context, render, after);
    return toArticle(after);
  });
}
