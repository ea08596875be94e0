import { requirePermissions, type VerbContext } from '../context.ts';
import { notFound } from '../errors.ts';
import type { ArticleId, AssetId } from '../ids.ts';
import { type Asset, assetColumns, toAsset } from './schemas.ts';

/** Every image of the article, oldest first (articles.read). */
export async function listAssets({ db, actor }: VerbContext, articleId: ArticleId): Promise<Asset[]> {
  requirePermissions(actor, 'articles.read');
  const rows = await db
    .selectFrom('assets')
    .select(assetColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toAsset);
}

/** One image of the article (articles.read). @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function readAsset(
  { db, actor }: VerbContext,
  articleId: ArticleId,
  assetId: AssetId,
): Promise<Asset> {
  requirePermissions(actor, 'articles.read');
  const row = await db
    .selectFrom('assets')
    .select(assetColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId)
    .where('id', '=', assetId)
    .executeTakeFirstOrThrow(() => notFound('asset'));
  return toAsset(row);
}
