import { updatedEvents } from '../articles/events.ts';
import { lockArticle } from '../articles/lock.ts';
import { withRenderings } from '../articles/prepare.ts';
import { type ArticleRow, articleColumns } from '../articles/queries.ts';
import { type Renderer, renderAgain } from '../articles/render.ts';
import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { releaseBytes } from '../credits/storage-quota.ts';
import { clockTimestamp } from '../db/clock.ts';
import type { Tx } from '../db/database.ts';
import { notFound } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import type { ArticleId, AssetId } from '../ids.ts';
import { type Asset, type AssetRow, assetColumns, toAsset } from './schemas.ts';

/**
 * Changes an image's alternative text (articles.update). Where it shows in the body, the article is rendered
 * again; a PUBLISHED article emits article.updated with content when readers see the change.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`
 */
export async function updateAsset(
  context: VerbContext,
  { articleId, assetId, altText }: { articleId: ArticleId; assetId: AssetId; altText: string },
): Promise<Asset> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.update');
  return withRenderings(db, async (tx, render) => {
    const article = await lockArticle(tx, actor.workspaceId, articleId, 'edit');
    const before = await findAsset(tx, articleId, assetId);
    if (before.alt_text === altText) return toAsset(before);
    const after = await tx
      .updateTable('assets')
      .set({ alt_text: altText })
      .where('id', '=', assetId)
      .returning(assetColumns)
      .executeTakeFirstOrThrow();
    await showChange(tx, context, render, article, after);
    await recordAudit(tx, context, {
      action: 'assets.updated',
      targetType: 'asset',
      targetId: assetId,
      details: { articleId, altText },
    });
    return toAsset(after);
  });
}

/**
 * Deletes an image and returns its bytes to the quota (articles.update). Blocks that show it render as nothing from
 * then on; a PUBLISHED article emits article.updated with content when readers see the change.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`
 */
export async function deleteAsset(
  context: VerbContext,
  { articleId, assetId }: { articleId: ArticleId; assetId: AssetId },
): Promise<void> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.update');
  await withRenderings(db, async (tx, render) => {
    const article = await lockArticle(tx, actor.workspaceId, articleId, 'edit');
    const asset = await findAsset(tx, articleId, assetId);
    await tx.deleteFrom('assets').where('id', '=', assetId).execute();
    await showChange(tx, context, render, article, asset);
    await recordAudit(tx, context, {
      action: 'assets.deleted',
      targetType: 'asset',
      targetId: assetId,
      details: { articleId, role: asset.role, fileName: asset.file_name, byteSize: asset.byte_size },
    });
    await releaseBytes(tx, actor.workspaceId, asset.byte_size);
  });
}

async function findAsset(tx: Tx, articleId: ArticleId, assetId: AssetId): Promise<AssetRow> {
  const row = await tx
    .selectFrom('assets')
    .select(assetColumns)
    .where('article_id', '=', articleId)
    .where('id', '=', assetId)
    .executeTakeFirstOrThrow(() => notFound('asset'));
  return row;
}

/** The hero shows on its own; an inline image shows where the body has it. */
async function showChange(
  tx: Tx,
  context: VerbContext,
  render: Renderer,
  article: ArticleRow,
  asset: AssetRow,
): Promise<void> {
  if (asset.role === 'hero') {
    const after = await tx
      .updateTable('articles')
      .set({ updated_at: clockTimestamp })
      .where('id', '=', article.id)
      .returning(articleColumns)
      .executeTakeFirstOrThrow();
    await recordEvents(tx, context, updatedEvents(after, ['content']));
    return;
  }
  await renderAgain(tx, context, render, [article]);
}
