import { updatedEvents } from '../articles/events.ts';
import { lockArticle } from '../articles/lock.ts';
import { type ArticleRow, articleChanged, contentChanged, summaryColumns } from '../articles/queries.ts';
import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { releaseBytes } from '../credits/storage-quota.ts';
import type { Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { parsePlaces, showsImage } from '../document/render/places.ts';
import { recordEvents } from '../events/record.ts';
import type { ArticleId, AssetId } from '../ids.ts';
import { findAsset } from './read.ts';
import { type Asset, type AssetRow, assetColumns, toAsset } from './schemas.ts';

/**
 * Changes an image's alternative text (articles.update). A PUBLISHED article emits article.updated with content when
 * readers see the change.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`
 */
export async function updateAsset(
  context: VerbContext,
  { articleId, assetId, altText }: { articleId: ArticleId; assetId: AssetId; altText: string },
): Promise<Asset> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.update');
  return inTransaction(db, async (tx) => {
    const article = await lockArticle(tx, actor.workspaceId, articleId, 'edit');
    const before = await findAsset(tx, articleId, assetId);
    if (before.alt_text === altText) return toAsset(before);
    const after = await tx
      .updateTable('assets')
      .set({ alt_text: altText })
      .where('id', '=', assetId)
      .returning(assetColumns)
      .executeTakeFirstOrThrow();
    if (isShown(after, article, 'alternative text')) await showChange(tx, context, article);
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
  await inTransaction(db, async (tx) => {
    const article = await lockArticle(tx, actor.workspaceId, articleId, 'edit');
    const asset = await findAsset(tx, articleId, assetId);
    await tx.deleteFrom('assets').where('id', '=', assetId).execute();
    if (isShown(asset, article, 'image')) await showChange(tx, context, article);
    await recordAudit(tx, context, {
      action: 'assets.deleted',
      targetType: 'asset',
      targetId: assetId,
      details: { articleId, role: asset.role, fileName: asset.file_name, byteSize: asset.byte_size },
    });
    await releaseBytes(tx, actor.workspaceId, asset.byte_size + asset.variant_bytes);
  });
}

/** True when readers see the image, or its alternative text: the hero always; an inline image where the body uses it. */
export function isShown(
  asset: Pick<AssetRow, 'id' | 'role'>,
  article: Pick<ArticleRow, 'content_places'>,
  what: 'image' | 'alternative text',
): boolean {
  if (asset.role === 'hero') return true;
  const places = parsePlaces(article.content_places);
  return showsImage(places, asset.id, what === 'alternative text');
}

/** Records a visible change of the article. */
async function showChange(tx: Tx, context: VerbContext, article: ArticleRow): Promise<void> {
  const after = await tx
    .updateTable('articles')
    .set({ ...articleChanged, ...contentChanged })
    .where('id', '=', article.id)
    .returning(summaryColumns)
    .executeTakeFirstOrThrow();
  await recordEvents(tx, context, updatedEvents(after, ['content']));
}
