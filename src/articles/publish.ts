import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { recordChange } from '../events/record.ts';
import type { ArticleId } from '../ids.ts';
import { recordAddressChange } from '../projects/addresses.ts';
import { articleSetOf, unpublishedEvent } from './events.ts';
import { moveArticle, publishLocked } from './move.ts';
import { withCurrentRendering } from './rendering.ts';
import { type ShownArticle, showArticle } from './show.ts';

/**
 * Publishes an APPROVED article (articles.publish). Emits article.published; links to it lead there from then on.
 * @param publishedUrl where it is shown now; the address reported before stays when there is none
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`, `no_content` or `status`; SERVICE_UNAVAILABLE as
 *   `withCurrentRendering`
 */
export async function publishArticle(
  context: VerbContext,
  articleId: ArticleId,
  publishedUrl?: string,
): Promise<ShownArticle> {
  const { db, actor, requestId } = context;
  requirePermissions(actor, 'articles.publish');
  const { workspaceId } = actor;
  const values = { workspaceId, articleId, publishedUrl: publishedUrl ?? null, requestId };
  return withCurrentRendering(db, context, () =>
    inTransaction(db, async (tx) => {
      const after = await publishLocked(tx, values);
      const shown = await showArticle(tx, after);
      const details = publishedUrl === undefined ? {} : { publishedUrl };
      const audit = { action: 'articles.published', targetType: 'article', targetId: articleId, details };
      await recordChange(
        tx,
        context,
        audit,
        [{ type: 'article.published', data: articleSetOf(after) }],
        true,
      );
      return shown;
    }),
  );
}

/**
 * Takes a PUBLISHED article back to DRAFT (articles.publish); publishedAt stays. Emits article.unpublished; words that
 * link to it are plain from then on.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running` or `status`
 */
export async function unpublishArticle(context: VerbContext, articleId: ArticleId): Promise<ShownArticle> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.publish');
  return inTransaction(db, async (tx) => {
    const { after } = await moveArticle(tx, actor.workspaceId, articleId, 'unpublish');
    await recordChange(
      tx,
      context,
      { action: 'articles.unpublished', targetType: 'article', targetId: articleId },
      [unpublishedEvent(after, after.status)],
    );
    await recordAddressChange(tx, context, after);
    return showArticle(tx, after);
  });
}
