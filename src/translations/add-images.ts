import { hashesOf, insertAssets } from '../articles/images.ts';
import { keepBlobs } from '../blobs/references.ts';
import type { Tx } from '../db/database.ts';
import { bytesOf, type SourceAsset } from '../document/translation/source.ts';
import type { JobTarget } from '../jobs/run-state.ts';

/**
 * Adds copies of the source's images. Skips images whose bytes are gone (a block that shows one renders as nothing), and
 * the source's cover when the draft has its own.
 * @returns bytes of the skipped images
 */
export async function addImages(
  tx: Tx,
  target: Pick<JobTarget, 'id' | 'workspace_id'>,
  images: readonly SourceAsset[],
): Promise<number> {
  const kept = await keepBlobs(tx, hashesOf(images));
  const ownCover = await tx
    .selectFrom('assets')
    .select('id')
    .where('article_id', '=', target.id)
    .where('role', '=', 'hero')
    .executeTakeFirst();
  const isAdded = (image: SourceAsset) =>
    hashesOf([image]).every((hash) => kept.has(hash)) && (image.role !== 'hero' || ownCover === undefined);
  await insertAssets(tx, target.workspace_id, target.id, images.filter(isAdded));
  return bytesOf(images.filter((image) => !isAdded(image)));
}
