import { updatedEvents } from '../articles/events.ts';
import { lockArticle } from '../articles/lock.ts';
import { articleChanged, contentChanged, summaryColumns } from '../articles/queries.ts';
import { recordAudit } from '../audit/record.ts';
import { nameBlobs, stageBlobs } from '../blobs/references.ts';
import { requirePermissions } from '../context.ts';
import {
  releaseBytes,
  requireBytes,
  reserveBytes,
  storageQuotaExceeded,
  storedBytes,
} from '../credits/storage-quota.ts';
import { inTransaction } from '../db/transaction.ts';
import { ServiceError } from '../errors.ts';
import type { NewEvent } from '../events/catalog.ts';
import { recordEvents } from '../events/record.ts';
import { createFairQueue } from '../fair-queue.ts';
import type { ArticleId } from '../ids.ts';
import { blobsOf, type ProcessedImage, storedBytesOf } from '../media/media.ts';
import type { FetchImage } from './fetch-image.ts';
import { insertAsset } from './insert.ts';
import { type Asset, toAsset } from './schemas.ts';
import type { AssetContext, UploadInput } from './upload.ts';

/** Images in flight in this process, and of one workspace (contract.md F30). */
const queue = createFairQueue({
  total: 20,
  perOwner: 4,
  maxWaiting: 4,
  refusal: () =>
    new ServiceError('RATE_LIMITED', 'Too many images of this workspace are being fetched.', {
      retryAfter: 15,
    }),
});
const WAIT_MS = 2_000;

interface NewHero {
  readonly articleId: ArticleId;
  readonly image: ProcessedImage;
  readonly fileName: string;
  readonly altText: string;
}

/**
 * Makes an uploaded image the article's cover (articles.update). An earlier cover is deleted and its bytes are returned to
 * the quota; image.regenerated reports the new one. A PUBLISHED article emits article.updated with content.
 * @throws {ServiceError} INVALID_REQUEST for bytes that are not an image; RESOURCE_NOT_FOUND; CONFLICT
 *   `job_running`; QUOTA_EXCEEDED; SERVICE_UNAVAILABLE when the store fails or has no room
 */
export async function uploadHero(context: AssetContext, input: UploadInput): Promise<Asset> {
  requirePermissions(context.actor, 'articles.update');
  const { articleId, fileName = 'image', altText = '' } = input;
  const image = await context.media.processUpload(input.bytes, '');
  return setHero(context, { articleId, image, fileName, altText });
}

/**
 * The same with an image fetched from a URL, under a guard as webhooks. Nothing is locked during the fetch. An audit entry
 * is written before it, so that every request that leaves is on record.
 * @throws {ServiceError} as `uploadHero`; INVALID_REQUEST when the image could not be fetched; RATE_LIMITED, and nothing
 *   was requested then
 */
export async function fetchHero(
  context: AssetContext & { readonly fetchImage: FetchImage },
  input: { articleId: ArticleId; url: string; altText?: string | undefined },
): Promise<Asset> {
  requirePermissions(context.actor, 'articles.update');
  const { articleId, url, altText = '' } = input;
  const release = await queue.take(context.actor.workspaceId, { waitMs: WAIT_MS });
  try {
    await inTransaction(context.db, (tx) =>
      recordAudit(tx, context, {
        action: 'assets.requested',
        targetType: 'article',
        targetId: articleId,
        details: { host: URL.parse(url)?.host ?? '' },
      }),
    );
    return await setHero(context, { articleId, ...(await context.fetchImage(url)), altText });
  } finally {
    release();
  }
}

async function setHero(
  context: AssetContext,
  { articleId, image, fileName, altText }: NewHero,
): Promise<Asset> {
  const { db, actor, blobs } = context;
  const bytes = storedBytesOf(image);
  const staged = await stageBlobs(db, blobs, blobsOf(image), async (tx) => {
    await lockArticle(tx, actor.workspaceId, articleId, 'edit');
    const present = await tx
      .selectFrom('assets')
      .select(storedBytes.as('bytes'))
      .where('article_id', '=', articleId)
      .where('role', '=', 'hero')
      .executeTakeFirst();
    await requireBytes(tx, actor.workspaceId, bytes - Number(present?.bytes ?? 0));
  });
  return inTransaction(db, async (tx) => {
    await lockArticle(tx, actor.workspaceId, articleId, 'edit');
    await nameBlobs(tx, staged);
    const replaced = await tx
      .deleteFrom('assets')
      .where('article_id', '=', articleId)
      .where('role', '=', 'hero')
      .returning(['id', storedBytes.as('bytes')])
      .executeTakeFirst();
    const asset = await insertAsset(
      tx,
      { workspaceId: actor.workspaceId, articleId },
      { role: 'hero', image, fileName, altText },
    );
    const article = await tx
      .updateTable('articles')
      .set({ ...articleChanged, ...contentChanged })
      .where('id', '=', articleId)
      .returning(summaryColumns)
      .executeTakeFirstOrThrow();
    const events: NewEvent[] = updatedEvents(article, ['content']);
    if (replaced !== undefined) {
      events.unshift({ type: 'image.regenerated', data: { articleId, assetId: asset.id, type: 'hero' } });
    }
    await recordEvents(tx, context, events);
    await recordAudit(tx, context, {
      action: 'assets.created',
      targetType: 'asset',
      targetId: asset.id,
      details: {
        articleId,
        role: 'hero',
        fileName,
        mediaType: image.mediaType,
        byteSize: asset.byte_size,
        ...(replaced === undefined ? {} : { replacedAssetId: replaced.id }),
      },
    });
    await releaseBytes(tx, actor.workspaceId, Number(replaced?.bytes ?? 0));
    if (!(await reserveBytes(tx, actor.workspaceId, bytes))) throw storageQuotaExceeded(bytes);
    return toAsset(asset);
  });
}
