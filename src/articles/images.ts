import { sql } from 'kysely';
import type { Queryable, Tx } from '../db/database.ts';
import type { SourceAsset } from '../document/translation/source.ts';
import { type ArticleId, type AssetId, newId, type WorkspaceId } from '../ids.ts';

/** The article's images, the cover included, oldest first. */
export async function readAssets(
  db: Queryable,
  workspaceId: WorkspaceId,
  articleId: ArticleId,
): Promise<SourceAsset[]> {
  const rows = await db
    .selectFrom('assets')
    .select(['id', 'role', 'content_hash', 'media_type', 'byte_size', 'file_name', 'alt_text'])
    .where('workspace_id', '=', workspaceId)
    .where('article_id', '=', articleId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map((asset) => ({
    id: asset.id,
    role: asset.role,
    contentHash: asset.content_hash,
    mediaType: asset.media_type,
    byteSize: asset.byte_size,
    fileName: asset.file_name,
    altText: asset.alt_text,
  }));
}

/** SQL over `articles`: a hash of the article's images with their roles, bytes and alternative texts; null without any. */
export const IMAGES_HASH = sql`(SELECT md5(json_agg(json_build_array(id, role, content_hash, alt_text) ORDER BY id)::text)
  FROM assets WHERE article_id = articles.id)`;

/** New ids for copies of the images, by source id. */
export const newAssetIds = (assets: readonly SourceAsset[]): Map<string, AssetId> =>
  new Map(assets.map(({ id }) => [id, newId<AssetId>()]));

/** The images with the ids of their copies. Storage is content-addressed, so no bytes are copied. */
export const copiesOf = (
  assets: readonly SourceAsset[],
  ids: ReadonlyMap<string, AssetId>,
): readonly SourceAsset[] => assets.map((asset) => ({ ...asset, id: ids.get(asset.id) ?? newId<AssetId>() }));

/** Bytes of the images in the storage quota. */
export const bytesOf = (assets: readonly Pick<SourceAsset, 'byteSize'>[]): number =>
  assets.reduce((sum, { byteSize }) => sum + byteSize, 0);

/** Images per statement, which takes at most 65,535 values. */
const IMAGES_AT_ONCE = 1_000;

/**
 * Adds images to an article. Lists are sorted by `created_at`, so each gets one a millisecond later to keep the order.
 */
export async function insertAssets(
  tx: Tx,
  workspaceId: WorkspaceId,
  articleId: ArticleId,
  assets: readonly SourceAsset[],
): Promise<void> {
  for (let from = 0; from < assets.length; from += IMAGES_AT_ONCE) {
    const some = assets.slice(from, from + IMAGES_AT_ONCE);
    await tx
      .insertInto('assets')
      .values(
        some.map((asset, index) => ({
          id: asset.id,
          workspace_id: workspaceId,
          article_id: articleId,
          role: asset.role,
          content_hash: asset.contentHash,
          media_type: asset.mediaType,
          byte_size: asset.byteSize,
          file_name: asset.fileName,
          alt_text: asset.altText,
          created_at: sql<Date>`now() + make_interval(secs => ${(from + index) / 1_000})`,
        })),
      )
      .execute();
  }
}
