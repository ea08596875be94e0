import type { Tx } from '../db/database.ts';
import { type ArticleId, type AssetId, newId, type WorkspaceId } from '../ids.ts';
import type { NewImage } from './image.ts';
import { type AssetRow, assetColumns } from './schemas.ts';

export interface AddedImage {
  readonly role: AssetRow['role'];
  readonly image: NewImage;
  readonly fileName: string;
  readonly altText: string;
}

/** The row of one image that was just received. */
export const insertAsset = (
  tx: Tx,
  article: { readonly workspaceId: WorkspaceId; readonly articleId: ArticleId },
  { role, image, fileName, altText }: AddedImage,
): Promise<AssetRow> =>
  tx
    .insertInto('assets')
    .values({
      id: newId<AssetId>(),
      workspace_id: article.workspaceId,
      article_id: article.articleId,
      role,
      content_hash: image.contentHash,
      media_type: image.mediaType,
      byte_size: image.bytes.byteLength,
      file_name: fileName,
      alt_text: altText,
    })
    .returning(assetColumns)
    .executeTakeFirstOrThrow();
