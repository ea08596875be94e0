/** Draws one image of a job, once. */
import { type BlobStore, contentHashOf } from '../../blobs/blob-store.ts';
import { stageBlobs } from '../../blobs/references.ts';
import type { Database } from '../../db/database.ts';
import type { ImageFailure } from '../../db/tables.ts';
import type { JobId } from '../../ids.ts';
import type { ImageModel, ImageRequest } from '../../providers/image-model.ts';
import { ProviderError, type ProviderErrorKind } from '../../providers/types.ts';
import { type CallOutcome, outcomeOf } from '../calls.ts';
import { beginImageCall, endImageCall } from './calls.ts';
import { failImage, noteReason, readImageOf, storeDrawn } from './images.ts';
import { MAX_IMAGE_ANSWERED, MAX_IMAGE_UNANSWERED } from './limits.ts';

/** A call for an image that has ended. */
export interface EndedImageCall {
  readonly model: string;
  readonly outcome: CallOutcome;
}

export interface DrawingDependencies {
  readonly db: Database;
  readonly blobs: BlobStore;
  /** Null where none draws. */
  readonly imageModel: ImageModel | null;
  /** Called for each call that has ended. */
  readonly onImageCall?: (call: EndedImageCall) => void;
}

/** An image to draw. */
export interface DrawingTask {
  readonly jobId: JobId;
  readonly number: number;
  readonly signal: AbortSignal;
  /** Retries database work while the database is away, so that an image is not lost. */
  readonly persist: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** Why there is no image after an error of each kind. */
const REASONS: Readonly<Record<ProviderErrorKind, ImageFailure>> = {
  retryable: 'busy',
  unavailable: 'busy',
  misconfigured: 'misconfigured',
  fatal: 'refused',
  refused: 'refused',
  unusable: 'not_an_image',
};

/**
 * Has a model draw an image that has a prompt, unless it is drawn, with counted calls (contract.md G104). Stores what it
 * returned as it came. What no further call can make ends as failed, with its reason.
 * @throws {ProviderError} of a model that is away or refuses this deployment: the next attempt asks again
 */
export async function drawImage(dependencies: DrawingDependencies, task: DrawingTask): Promise<void> {
  const { db, imageModel, onImageCall } = dependencies;
  const { jobId, number, signal, persist } = task;
  const image = await persist(() => readImageOf(db, jobId, number));
  if (image.state !== 'prompted') return;
  const fail = (reason: ImageFailure) => persist(() => failImage(db, task, reason));
  if (imageModel === null || image.prompt === null || image.style === null) {
    await fail(imageModel === null ? 'no_model' : 'no_prompt');
    return;
  }
  if (image.unanswered >= MAX_IMAGE_UNANSWERED) {
    await fail('unanswered');
    return;
  }
  let reason: ImageFailure = image.reason ?? 'not_an_image';
  const { prompt, style, role, quality } = image;
  const model = imageModel.modelOf(quality);
  for (let answered = image.calls; answered < MAX_IMAGE_ANSWERED; answered += 1) {
    const id = await persist(() => beginImageCall(db, { jobId, number, model }));
    // The next attempt finds out why.
    if (id === null) throw new ProviderError('retryable', 'This image needs no further call.');
    const request = { prompt, style, role, quality, seed: seedOf(task, answered), signal };
    const drawn = await draw(imageModel, request, async (outcome) => {
      await persist(() => endImageCall(db, id, outcome));
      onImageCall?.({ model, outcome });
    });
    if (drawn instanceof Uint8Array) {
      await store(dependencies, task, drawn);
      return;
    }
    reason = drawn.unanswered ? 'unanswered' : REASONS[drawn.kind];
    if (drawn.kind === 'unusable') continue;
    if (drawn.kind !== 'retryable' && drawn.kind !== 'misconfigured') break;
    if (drawn.unanswered && image.unanswered + 1 >= MAX_IMAGE_UNANSWERED) break;
    await persist(() => noteReason(db, task, reason));
    throw drawn;
  }
  await fail(reason);
}

/** Makes one call, whose end is noted. @returns the bytes, or the provider's error */
async function draw(
  model: ImageModel,
  request: ImageRequest,
  end: (outcome: CallOutcome) => Promise<void>,
): Promise<Uint8Array | ProviderError> {
  try {
    const bytes = await model.draw(request);
    await end('answered');
    return bytes;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    // A response that is no image costs what an image costs.
    await end(error.kind === 'unusable' ? 'answered' : (outcomeOf(error) ?? 'rejected'));
    return error;
  }
}

/** Stores what a model returned. Its bytes wait for the step that decodes them. */
async function store(
  { db, blobs }: DrawingDependencies,
  task: DrawingTask,
  bytes: Uint8Array,
): Promise<void> {
  const hash = await contentHashOf(bytes);
  const added = [{ bytes, contentHash: hash }];
  try {
    const staged = await task.persist(() => stageBlobs(db, blobs, added, () => Promise.resolve()));
    await task.persist(() => storeDrawn(db, task, { hash, staged }));
  } catch (error) {
    await task.persist(() => noteReason(db, task, 'storage'));
    throw error;
  }
}

/** The same job, image and call give the same seed; an image that is regenerated is another one. */
const seedOf = ({ jobId, number }: Pick<DrawingTask, 'jobId' | 'number'>, answered: number): number =>
  (Number.parseInt(jobId.slice(-8), 16) + number * MAX_IMAGE_ANSWERED + answered) % 2 ** 31;
