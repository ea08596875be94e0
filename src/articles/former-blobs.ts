/** What images were before they were regenerated in place: their addresses go on serving for a while. */
import { markOf } from '../blobs/asset.ts';
import { type PruneOptions, removeOlder } from '../db/batches.ts';
import type { Database, Tx } from '../db/database.ts';
import type { AssetId, WorkspaceId } from '../ids.ts';

const ROWS_AT_ONCE = 5_000;

/** A file of an image, with the type that it is served as. */
export interface ServedBlob {
  readonly hash: string;
  readonly mediaType: string;
}

/** The file that an image had at the address with this mark. */
export const findFormerBlob = (
  db: Database,
  assetId: AssetId,
  mark: string,
): Promise<ServedBlob | undefined> =>
  db
    .selectFrom('asset_former_blobs')
    .select(['content_hash as hash', 'media_type as mediaType'])
    .where('asset_id', '=', assetId)
    .where(markOf('content_hash'), '=', mark)
    .limit(1)
    .executeTakeFirst();

/** Keeps the addresses of files that the image has no longer (contract.md G123). */
export async function keepFormerBlobs(
  tx: Tx,
  asset: { readonly id: AssetId; readonly workspaceId: WorkspaceId },
  blobs: readonly ServedBlob[],
): Promise<void> {
  const byHash = new Map(blobs.map(({ hash, mediaType }) => [hash, mediaType]));
  if (byHash.size === 0) return;
  await tx
    .insertInto('asset_former_blobs')
    .values(
      [...byHash].map(([contentHash, mediaType]) => ({
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
export const pruneFormerBlobs = (db: Database, { retentionMs, onProgress }: PruneOptions): Promise<number> =>
  removeOlder(
    db,
    ['asset_former_blobs', 'replaced_at'],
    { ageMs: retentionMs, limit: ROWS_AT_ONCE },
    onProgress,
  );
