import { sql } from 'kysely';
import { storedBytes } from '../credits/storage-quota.ts';
import type { Tx } from '../db/database.ts';
import type { StoredMedia } from '../db/tables.ts';
import { bytesOf } from '../document/translation/source.ts';
import type { ArticleId, AssetId, WorkspaceId } from '../ids.ts';
import { VARIANT_MEDIA_TYPE } from '../media/media.ts';
import { keepFormerBlobs, type ServedBlob } from './former-blobs.ts';
import { hashesOf, mediaColumns } from './images.ts';

/** An image that takes the place of another one. */
export interface Replacing {
  readonly assetId: AssetId;
  /** The hash of the image that it may replace. */
  readonly replaces: string;
  readonly prompt: string | null;
  readonly image: StoredMedia;
}

export interface Replaced {
  readonly role: 'hero' | 'inline';
  /** Bytes of the storage quota that it needs more; negative for less. */
  readonly grownBy: number;
}

/**
 * Puts other bytes, which are kept, in the place of an image of a locked article, in one guarded statement; its id and
 * alternative text stay, the file name gets the ending of the new format. Its earlier addresses go on serving for a while.
 * @returns null when the image is gone or has other bytes than those that may be replaced; nothing is changed then
 */
export async function replaceImage(
  tx: Tx,
  article: { readonly id: ArticleId; readonly workspace_id: WorkspaceId },
  { assetId, replaces, prompt, image }: Replacing,
): Promise<Replaced | null> {
  const ending = `.${image.mediaType.replace(/^image\//, '')}`;
  const former = await tx
    .with('former', (cte) =>
      cte
        .selectFrom('assets')
        .select(['id', 'role', 'content_hash', 'media_type', 'preview_hash', 'thumbnail_hash'])
        .select(storedBytes.as('bytes'))
        .where('id', '=', assetId)
        .where('article_id', '=', article.id)
        .where('content_hash', '=', replaces)
        .forUpdate(),
    )
    .updateTable('assets')
    .from('former')
    .set({
      ...mediaColumns(image),
      prompt,
      file_name: sql<string>`left(regexp_replace(file_name, '[.][^.]*$', ''), 250) || ${ending}`,
    })
    .whereRef('assets.id', '=', 'former.id')
    .returning([
      'former.role',
      'former.content_hash',
      'former.media_type',
      'former.preview_hash',
      'former.thumbnail_hash',
      'former.bytes',
    ])
    .executeTakeFirst();
  if (former === undefined) return null;
  const present = new Set(hashesOf([image]));
  const files = [
    { hash: former.content_hash, mediaType: former.media_type },
    { hash: former.preview_hash, mediaType: VARIANT_MEDIA_TYPE },
    { hash: former.thumbnail_hash, mediaType: VARIANT_MEDIA_TYPE },
  ];
  await keepFormerBlobs(
    tx,
    { id: assetId, workspaceId: article.workspace_id },
    files.filter((file): file is ServedBlob => file.hash !== null && !present.has(file.hash)),
  );
  return { role: former.role, grownBy: bytesOf([image]) - Number(former.bytes) };
}
