import { lockArticle } from '../articles/lock.ts';
import { recordAudit } from '../audit/record.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { storeBlobs } from '../blobs/references.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { reserveBytes, storageQuotaExceeded } from '../credits/storage-quota.ts';
import { inTransaction } from '../db/transaction.ts';
import type { ArticleId } from '../ids.ts';
import { readImage } from './image.ts';
import { insertAsset } from './insert.ts';
import { type Asset, toAsset } from './schemas.ts';

export interface AssetContext extends VerbContext {
  readonly blobs: BlobStore;
}

export interface UploadInput {
  readonly articleId: ArticleId;
  readonly bytes: Uint8Array;
  /** 1 to 255 characters; `image` when omitted. */
  readonly fileName?: string | undefined;
  readonly altText?: string | undefined;
}

/**
 * Adds an image to the article for its body to show (articles.update). Its bytes count toward the storage
 * quota. The body does not name it yet, so nothing a reader sees changes.
 * @throws {ServiceError} INVALID_REQUEST for bytes that are not an image; RESOURCE_NOT_FOUND; CONFLICT
 *   `job_running`; QUOTA_EXCEEDED
 */
export async function uploadAsset(context: AssetContext, input: UploadInput): Promise<Asset> {
  const { db, actor, blobs } = context;
  requirePermissions(actor, 'articles.update');
  const { articleId, fileName = 'image', altText = '' } = input;
  const image = await readImage(input.bytes, '');
  const byteSize = image.bytes.byteLength;
  return inTransaction(db, async (tx) => {
    await lockArticle(tx, actor.workspaceId, articleId, 'edit');
    const asset = await insertAsset(
      tx,
      { workspaceId: actor.workspaceId, articleId },
      { role: 'inline', image, fileName, altText },
    );
    await recordAudit(tx, context, {
      action: 'assets.created',
      targetType: 'asset',
      targetId: asset.id,
      details: { articleId, role: 'inline', fileName, mediaType: image.mediaType, byteSize },
    });
    if (!(await reserveBytes(tx, actor.workspaceId, byteSize))) throw storageQuotaExceeded(byteSize);
    await storeBlobs(tx, blobs, [image]);
    return toAsset(asset);
  });
}
