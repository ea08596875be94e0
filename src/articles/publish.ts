import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { recordEvents } from '../events/record.ts';
import type { ArticleId } from '../ids.ts';
import { articleSetOf, unpublishedEvent } from './events.ts';
import { lockArticle } from './lock.ts';
import { moveArticle } from './move.ts';
import { isCurrent, MAX_ATTEMPTS, type PreparedBody, prepareBody, restless } from './prepare.ts';
import { renderLinkers } from './render.ts';
import { type AnsweredArticle, toArticle } from './schemas.ts';

/**
 * Publishes an APPROVED article (articles.publish). Emits article.published; articles that link to it are
 * rendered again.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`, `no_content` or `status`
 */
export async function publishArticle(context: VerbContext, articleId: ArticleId): Promise<AnsweredArticle> {
  requirePermissions(context.actor, 'articles.publish');
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const prepared = await prepareBody(context.db, context, articleId);
    const published = await inTransaction(context.db, (tx) => publish(tx, context, articleId, prepared));
    if (published !== null) return published;
  }
  throw restless();
}

/** @returns null when the article shows other things by now than when it was rendered */
async function publish(
  tx: Tx,
  context: VerbContext,
  articleId: ArticleId,
  prepared: PreparedBody | null,
): Promise<AnsweredArticle | null> {
  const { workspaceId } = context.actor;
  const before = await lockArticle(tx, workspaceId, articleId, 'publish');
  if (prepared?.document !== before.document || !(await isCurrent(tx, before, prepared))) return null;
  const { after } = await moveArticle(tx, workspaceId, articleId, 'publish', prepared.rendering);
  await recordEvents(tx, context, [{ type: 'article.published', data: articleSetOf(after) }]);
  await renderLinkers(tx, context, after);
  await recordAudit(tx, context, {
    action: 'articles.published',
    targetType: 'article',
    targetId: articleId,
  });
  return toArticle(after);
}

/**
 * Takes a PUBLISHED article back to DRAFT (articles.publish); publishedAt stays. Emits article.unpublished;
 * articles that link to it are rendered again.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running` or `status`
 */
export async function unpublishArticle(context: VerbContext, articleId: ArticleId): Promise<AnsweredArticle> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.publish');
  return inTransaction(db, async (tx) => {
    const { after } = await moveArticle(tx, actor.workspaceId, articleId, 'unpublish');
    await recordEvents(tx, context, [unpublishedEvent(after, after.status)]);
    await renderLinkers(tx, context, after);
    await recordAudit(tx, context, {
      action: 'articles.unpublished',
      targetType: 'article',
      targetId: articleId,
    });
    return toArticle(after);
  });
}
