import { sql } from 'kysely';
import type { Queryable, Tx } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { SourceAsset } from '../document/translation/source.ts';
import { type ArticleId, type AssetId, newId, type WorkspaceId } from '../ids.ts';
import { type ProcessedImage, storedBytesOf } from '../media/media.ts';

/** Images in the body of an article: lists, copies and translations handle all of them at once. */
export const MAX_IMAGES = 1_000;

/** What is copied of an image. */
export const imageColumns = [
  'id',
  'role',
  'content_hash',
  'media_type',
  'byte_size',
  'file_name',
  'alt_text',
  'width',
  'height',
  'preview_hash',
  'thumbnail_hash',
  'variant_bytes',
  'prompt',
] as const satisfies readonly (keyof Tables['assets'])[];

/** The article's images, the cover included, oldest first. */
export async function readAssets(
  db: Queryable,
  workspaceId: WorkspaceId,
  articleId: ArticleId,
): Promise<SourceAsset[]> {
  const rows = await db
    .selectFrom('assets')
    .select(imageColumns)
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
    width: asset.width,
    height: asset.height,
    previewHash: asset.preview_hash,
    thumbnailHash: asset.thumbnail_hash,
    variantBytes: asset.variant_bytes,
    prompt: asset.prompt,
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

/** The fields of a stored image that follow from its bytes. */
export const mediaFields = (image: ProcessedImage) => ({
  contentHash: image.contentHash,
  mediaType: image.mediaType,
  byteSize: image.bytes.byteLength,
  width: image.width,
  height: image.height,
  previewHash: image.preview?.contentHash ?? null,
  thumbnailHash: image.thumbnail?.contentHash ?? null,
  variantBytes: storedBytesOf(image) - image.bytes.byteLength,
});

/** The same as columns: a new row has them, and one whose image is replaced in place. */
export const mediaColumns = (image: ReturnType<typeof mediaFields>) => ({
  content_hash: image.contentHash,
  media_type: image.mediaType,
  byte_size: image.byteSize,
  width: image.width,
  height: image.height,
  preview_hash: image.previewHash,
  thumbnail_hash: image.thumbnailHash,
  variant_bytes: image.variantBytes,
});

/** Hashes of the images' bytes, previews and thumbnails. */
export const hashesOf = (
  assets: readonly Pick<SourceAsset, 'contentHash' | 'previewHash' | 'thumbnailHash'>[],
): string[] =>
  assets
    .flatMap(({ contentHash, previewHash, thumbnailHash }) => [contentHash, previewHash, thumbnailHash])
    .filter((hash) => typeof hash === 'string');

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
          ...mediaColumns(asset),
          file_name: asset.fileName,
          alt_text: asset.altText,
          prompt: asset.prompt,
          created_at: sql<Date>`now() + make_interval(secs => ${(from + index) / 1_000})`,
        })),
      )
      .execute();
  }
}
