import { bytesOf, insertAssets } from '../articles/images.ts';
import { keepBlobs } from '../blobs/references.ts';
import type { Tx } from '../db/database.ts';
import type { SourceAsset } from '../document/translation/source.ts';
import type { JobTarget } from '../jobs/run-state.ts';

/**
 * Adds the copies of the source's images. Left out is one that was deleted so long ago that its bytes are gone (a block
 * that shows it renders as nothing), and the cover of a source when an editor gave the draft its own.
 * @returns the bytes of those left out
 */
export async function addImages(
  tx: Tx,
  target: Pick<JobTarget, 'id' | 'workspace_id'>,
  images: readonly SourceAsset[],
): Promise<number> {
  const kept = await keepBlobs(
    tx,
    images.map((image) => image.contentHash),
  );
  const ownCover = await tx
    .selectFrom('assets')
    .select('id')
    .where('article_id', '=', target.id)
    .where('role', '=', 'hero')
    .executeTakeFirst();
  const isAdded = ({ contentHash, role }: SourceAsset) =>
    kept.has(contentHash) && (role !== 'hero' || ownCover === undefined);
  await insertAssets(tx, target.workspace_id, target.id, images.filter(isAdded));
  return bytesOf(images.filter((image) => !isAdded(image)));
}
