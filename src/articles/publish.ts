import { requirePermissions, type VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { recordChange } from '../events/record.ts';
import type { ArticleId } from '../ids.ts';
import { recordAddressChange } from '../projects/addresses.ts';
import { articleSetOf, unpublishedEvent } from './events.ts';
import type { MovableArticle } from './lock.ts';
import { moveArticle, moveLocked, publishRendered } from './move.ts';
import { withRenderings } from './prepare.ts';
import type { Renderer, Rendering } from './render.ts';
import { type ArticleResponse, toArticle } from './schemas.ts';

/**
 * Publishes an APPROVED article (articles.publish). Emits article.published; articles that link to it are
 * rendered again afterwards.
 * @param publishedUrl where it is shown now; the address reported before stays when there is none
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`, `no_content` or `status`
 */
export async function publishArticle(
  context: VerbContext,
  articleId: ArticleId,
  publishedUrl?: string,
): Promise<ArticleResponse> {
  const { db, actor, requestId } = context;
  requirePermissions(actor, 'articles.publish');
  return withRenderings(db, async (tx, render) => {
    const publication = { publishedUrl, requestId };
    const named = { workspaceId: actor.workspaceId, articleId };
    const { before, after: published } = await publishRendered(tx, { ...named, ...publication });
    const after =
      published ??
      (await moveLocked(tx, articleId, 'publish', {
        rendering: await renderingOf(tx, render, before),
        ...publication,
      }));
    const details = publishedUrl === undefined ? {} : { publishedUrl };
    const audit = { action: 'articles.published', targetType: 'article', targetId: articleId, details };
    await recordChange(tx, context, audit, [{ type: 'article.published', data: articleSetOf(after) }], true);
    return toArticle(after);
  });
}

/** What the body is rendered as by now; null when that is what is stored. */
async function renderingOf(
  tx: Tx,
  render: Renderer,
  { unrendered, ...article }: MovableArticle,
): Promise<Rendering | null> {
  if (unrendered === null) return null;
  const [{ rendering }] = await render(tx, [{ ...article, document: unrendered }]);
  return rendering;
}

/**
 * Takes a PUBLISHED article back to DRAFT (articles.publish); publishedAt stays. Emits article.unpublished;
 * articles that link to it are rendered again afterwards.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running` or `status`
 */
export async function unpublishArticle(context: VerbContext, articleId: ArticleId): Promise<ArticleResponse> {
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
    await recordAddressChange(tx, context, { projectId: after.project_id, targetId: articleId });
    return toArticle(after);
  });
}
