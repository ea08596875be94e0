import { sql } from 'kysely';
import { storedBytes } from '../../credits/storage-quota.ts';
import type { Tx } from '../../db/database.ts';
import type { StagedImage } from '../../db/tables.ts';
import { bytesOfImage, filesOf } from '../../generation/images/images.ts';
import type { ArticleId, AssetId } from '../../ids.ts';
import { VARIANT_MEDIA_TYPE } from '../../media/media.ts';
import type { ServedBlob } from '../former-blobs.ts';
import type { AssetRow } from '../schemas.ts';

/** An image that takes the place of another one. */
export interface Drawn {
  readonly assetId: AssetId;
  /** The hash of the image that it may replace. */
  readonly replaces: string;
  readonly prompt: string;
  readonly image: StagedImage;
}

export interface Replaced {
  readonly role: AssetRow['role'];
  /** Bytes of the storage quota that it needs more; negative for less. */
  readonly grownBy: number;
  /** Files that the image has no longer. */
  readonly former: readonly ServedBlob[];
}

interface Former {
  readonly role: AssetRow['role'];
  readonly content_hash: string;
  readonly media_type: string;
  readonly preview_hash: string | null;
  readonly thumbnail_hash: string | null;
  readonly bytes: number;
}

/**
 * Puts other bytes in the place of an image of a locked article, in one guarded statement; its id and alternative text
 * stay, the file name gets the ending of the new format.
 * @returns null when the image is gone or has other bytes than those that may be replaced; nothing is changed then
 */
export async function replaceBytes(
  tx: Tx,
  articleId: ArticleId,
  { assetId, replaces, prompt, image }: Drawn,
): Promise<Replaced | null> {
  const ending = `.${image.mediaType.replace(/^image\//, '')}`;
  const { rows } = await sql<Former>`
    WITH former AS (
      SELECT id, role, content_hash, media_type, preview_hash, thumbnail_hash, ${storedBytes}::float8 AS bytes
      FROM assets WHERE id = ${assetId} AND article_id = ${articleId} AND content_hash = ${replaces}
      FOR UPDATE
    )
    UPDATE assets SET content_hash = ${image.hash}, media_type = ${image.mediaType}, byte_size = ${image.size},
      width = ${image.width}, height = ${image.height}, preview_hash = ${image.preview?.hash ?? null},
      thumbnail_hash = ${image.thumbnail?.hash ?? null}, variant_bytes = ${bytesOfImage(image) - image.size},
      prompt = ${prompt}, file_name = left(regexp_replace(file_name, '[.][^.]*$', ''), 250) || ${ending}
    FROM former WHERE assets.id = former.id
    RETURNING former.*`.execute(tx);
  const [former] = rows;
  if (former === undefined) return null;
  const present = new Set(filesOf(image).map(({ hash }) => hash));
  const files = [
    { hash: former.content_hash, mediaType: former.media_type },
    { hash: former.preview_hash, mediaType: VARIANT_MEDIA_TYPE },
    { hash: former.thumbnail_hash, mediaType: VARIANT_MEDIA_TYPE },
  ];
  return {
    role: former.role,
    grownBy: bytesOfImage(image) - former.bytes,
    former: files.filter((file): file is ServedBlob => file.hash !== null && !present.has(file.hash)),
  };
}
