import { MAX_IMAGES } from '../articles/images.ts';
import { lockArticle } from '../articles/lock.ts';
import { recordAudit } from '../audit/record.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { nameBlobs, stageBlobs } from '../blobs/references.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { requireBytes, reserveBytes, storageQuotaExceeded } from '../credits/storage-quota.ts';
import { countRows } from '../db/count-rows.ts';
import type { Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict } from '../errors.ts';
import type { ArticleId } from '../ids.ts';
import { blobsOf, type MediaProcessor, storedBytesOf } from '../media/media.ts';
import { insertAsset } from './insert.ts';
import { type Asset, toAsset } from './schemas.ts';

export interface AssetContext extends VerbContext {
  readonly blobs: BlobStore;
  readonly media: MediaProcessor;
}

export interface UploadInput {
  readonly articleId: ArticleId;
  readonly bytes: Uint8Array;
  /** 1 to 255 characters; `image` when omitted. */
  readonly fileName?: string | undefined;
  readonly altText?: string | undefined;
}

/** @throws {ServiceError} CONFLICT `image_limit` */
async function requireRoom(tx: Tx, articleId: ArticleId): Promise<void> {
  const images = tx.selectFrom('assets').where('article_id', '=', articleId).where('role', '=', 'inline');
  const count = await countRows(tx, images);
  if (count >= MAX_IMAGES) {
    throw conflict(`An article has at most ${MAX_IMAGES} images; delete one first.`, 'image_limit');
  }
}

/**
 * Adds an image to the article (articles.update). Its bytes count toward the storage quota. Readers see no change until
 * the body uses it.
 * @throws {ServiceError} INVALID_REQUEST for bytes that are not an image; RESOURCE_NOT_FOUND; CONFLICT
 *   `job_running` or `image_limit`; QUOTA_EXCEEDED; SERVICE_UNAVAILABLE when the store fails or has no room
 */
export async function uploadAsset(context: AssetContext, input: UploadInput): Promise<Asset> {
  const { db, actor, blobs } = context;
  requirePermissions(actor, 'articles.update');
  const { articleId, fileName = 'image', altText = '' } = input;
  const image = await context.media.processUpload(input.bytes, '');
  const bytes = storedBytesOf(image);
  const requireRoomIn = async (tx: Tx): Promise<void> => {
    await lockArticle(tx, actor.workspaceId, articleId, 'edit');
    await requireRoom(tx, articleId);
  };
  const staged = await stageBlobs(db, blobs, blobsOf(image), async (tx) => {
    await requireRoomIn(tx);
    await requireBytes(tx, actor.workspaceId, bytes);
  });
  return inTransaction(db, async (tx) => {
    await requireRoomIn(tx);
    await nameBlobs(tx, staged);
    const asset = await insertAsset(
      tx,
      { workspaceId: actor.workspaceId, articleId },
      { role: 'inline', image, fileName, altText },
    );
    await recordAudit(tx, context, {
      action: 'assets.created',
      targetType: 'asset',
      targetId: asset.id,
      details: { articleId, role: 'inline', fileName, mediaType: image.mediaType, byteSize: asset.byte_size },
    });
    if (!(await reserveBytes(tx, actor.workspaceId, bytes))) throw storageQuotaExceeded(bytes);
    return toAsset(asset);
  });
}
