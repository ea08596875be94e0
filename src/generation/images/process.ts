/** Makes what a model drew the files of an asset. */
import { buffer } from 'node:stream/consumers';
import { mediaFields } from '../../articles/images.ts';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { stageBlobs } from '../../blobs/references.ts';
import type { Database } from '../../db/database.ts';
import { ServiceError } from '../../errors.ts';
import { MAX_GENERATED_BYTES } from '../../media/limits.ts';
import { blobsOf, type MediaProcessor, type ProcessedImage, storedBytesOf } from '../../media/media.ts';
import { ProviderError } from '../../providers/types.ts';
import type { DrawingTask } from './draw.ts';
import { failImage, noteReason, readImageOf, storeProcessed } from './images.ts';

export interface ProcessingDependencies {
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly media: MediaProcessor;
}

/**
 * Decodes a drawn image, and stores it with its smaller forms, unless that was done. What cannot be decoded, or takes more
 * than what was held for it, ends as failed.
 * @throws {ProviderError} `retryable` when store or decoder are away: the next attempt goes on
 */
export async function processImage(
  { db, blobs, media }: ProcessingDependencies,
  task: Pick<DrawingTask, 'jobId' | 'number' | 'persist'>,
): Promise<void> {
  const { jobId, number, persist } = task;
  const { state, role, drawn_hash: drawn } = await persist(() => readImageOf(db, jobId, number));
  if (state !== 'drawn' || drawn === null) return;
  try {
    const stored = await blobs.open(drawn);
    if (stored === null) return void (await persist(() => failImage(db, task, 'storage')));
    const bytes = await buffer(stored.read());
    const image = await decode(media, bytes, role);
    if (image === null) return void (await persist(() => failImage(db, task, 'not_an_image')));
    if (storedBytesOf(image) > MAX_GENERATED_BYTES) {
      return void (await persist(() => failImage(db, task, 'too_large')));
    }
    const staged = await persist(() => stageBlobs(db, blobs, blobsOf(image), () => Promise.resolve()));
    await persist(() => storeProcessed(db, task, { image: mediaFields(image), staged }));
  } catch (error) {
    await persist(() => noteReason(db, task, 'storage'));
    if (!(error instanceof ServiceError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
    throw new ProviderError('retryable', error.message, { cause: error });
  }
}

/** The image as it will be shown; null for bytes that are none. */
async function decode(
  media: MediaProcessor,
  bytes: Uint8Array,
  role: 'hero' | 'inline',
): Promise<ProcessedImage | null> {
  try {
    return await media.processGenerated(bytes, role);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'INVALID_REQUEST') return null;
    throw error;
  }
}
