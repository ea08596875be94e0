import { mediaColumns, mediaFields } from '../articles/images.ts';
import type { Tx } from '../db/database.ts';
import { type ArticleId, type AssetId, newId, type WorkspaceId } from '../ids.ts';
import type { ProcessedImage } from '../media/media.ts';
import { type AssetRow, assetColumns } from './schemas.ts';

export interface AddedImage {
  /** Planned before; a new one when omitted. */
  readonly id?: AssetId;
  readonly role: AssetRow['role'];
  readonly image: ProcessedImage;
  readonly fileName: string;
  readonly altText: string;
  /** What it was generated from; omitted of one that a person sent. */
  readonly prompt?: string;
}

/** Stores the row of one image that was just received or generated (contract.md F52); its bytes are named already. */
export const insertAsset = (
  tx: Tx,
  article: { readonly workspaceId: WorkspaceId; readonly articleId: ArticleId },
  { id = newId<AssetId>(), role, image, fileName, altText, prompt }: AddedImage,
): Promise<AssetRow> =>
  tx
    .insertInto('assets')
    .values({
      id,
      workspace_id: article.workspaceId,
      article_id: article.articleId,
      role,
      ...mediaColumns(mediaFields(image)),
      file_name: fileName,
      alt_text: altText,
      prompt: prompt ?? null,
    })
    .returning(assetColumns)
    .executeTakeFirstOrThrow();
