/** Makes the images of a settled run assets of its article. */
import { sql } from 'kysely';
import { hashesOf, insertAssets } from '../../articles/images.ts';
import { keepBlobs } from '../../blobs/references.ts';
import type { Tx } from '../../db/database.ts';
import type { StoredMedia } from '../../db/tables.ts';
import { bytesOf } from '../../document/translation/source.ts';
import type { NewEvent } from '../../events/catalog.ts';
import type { JobId } from '../../ids.ts';
import type { JobTarget } from '../../jobs/run-state.ts';
import type { GenerationImage } from './images.ts';

/** An image that can be delivered. */
export interface FinishedImage extends GenerationImage {
  readonly processed: StoredMedia;
}

export const finishedImages = (images: readonly GenerationImage[]): FinishedImage[] =>
  images.flatMap(({ processed, ...image }) =>
    image.state === 'processed' && processed !== null ? [{ ...image, processed }] : [],
  );

/** What the images of a run were settled as. */
export interface AddedImages {
  readonly count: number;
  /** What they take of the storage quota. */
  readonly bytes: number;
  /** One for each of them (contract.md G107). */
  readonly events: readonly NewEvent[];
}

/**
 * Adds finished images to the locked article, under the ids that were planned. A cover that a person has set stays, and the
 * run's is not used. All other images of the run end as failed.
 */
export async function addImages(
  tx: Tx,
  target: JobTarget,
  jobId: JobId,
  finished: readonly FinishedImage[],
): Promise<AddedImages> {
  const cover = await tx
    .selectFrom('assets')
    .select('id')
    .where('article_id', '=', target.id)
    .where('role', '=', 'hero')
    .executeTakeFirst();
  const kept = await keepBlobs(tx, hashesOf(finished.map(({ processed }) => processed)));
  const added = finished.filter(
    ({ role, processed }) =>
      (role !== 'hero' || cover === undefined) && hashesOf([processed]).every((hash) => kept.has(hash)),
  );
  const assets = added.map(toAsset);
  await insertAssets(tx, target.workspace_id, target.id, assets);
  await sql`
    UPDATE generation_images SET
      state = CASE WHEN number = ANY (${added.map(({ number }) => number)}::integer[]) THEN 'delivered' ELSE 'failed' END,
      reason = CASE WHEN number = ANY (${added.map(({ number }) => number)}::integer[]) THEN NULL
        WHEN state = 'processed' AND role = 'hero' THEN 'own_cover' ELSE coalesce(reason, 'busy') END
    WHERE job_id = ${jobId} AND state <> 'failed'`.execute(tx);
  return {
    count: added.length,
    bytes: bytesOf(assets),
    events: added.map(({ role, asset_id }) => ({
      type: 'image.generated',
      data: { articleId: target.id, assetId: asset_id, type: role },
    })),
  };
}

const toAsset = ({ asset_id, role, alt_text, prompt, number, processed }: FinishedImage) => ({
  ...processed,
  id: asset_id,
  role,
  fileName: number === 0 ? 'cover.webp' : `image-${number}.webp`,
  altText: alt_text ?? '',
  prompt,
});
