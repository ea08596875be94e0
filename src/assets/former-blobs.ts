/** What images were before they were made anew in place: their addresses go on serving for a while. */
import { type PruneOptions, removeOlder } from '../db/batches.ts';
import type { Database, Tx } from '../db/database.ts';
import type { AssetId, WorkspaceId } from '../ids.ts';

const ROWS_AT_ONCE = 5_000;

/** A file of an image, by what it serves. */
export interface FormerBlob {
  readonly contentHash: string;
  readonly mediaType: string;
}

/** Keeps the addresses of files that the image has no longer (contract.md G123). */
export async function keepFormerBlobs(
  tx: Tx,
  asset: { readonly id: AssetId; readonly workspaceId: WorkspaceId },
  blobs: readonly FormerBlob[],
): Promise<void> {
  if (blobs.length === 0) return;
  await tx
    .insertInto('asset_former_blobs')
    .values(
      blobs.map(({ contentHash, mediaType }) => ({
        asset_id: asset.id,
        workspace_id: asset.workspaceId,
        content_hash: contentHash,
        media_type: mediaType,
      })),
    )
    .onConflict((on) =>
      on.columns(['asset_id', 'content_hash']).doUpdateSet((eb) => ({ replaced_at: eb.fn<Date>('now') })),
    )
    .execute();
}

/** Ends the addresses of what was replaced before the retention; the collection removes the bytes. @returns how many */
export const pruneFormerBlobs = (
  db: Database,
  { retentionMs, onProgress }: PruneOptions,
): Promise<number> =>
  removeOlder(
    db,
    ['asset_former_blobs', 'replaced_at'],
    { ageMs: retentionMs, limit: ROWS_AT_ONCE },
    onProgress,
  );
