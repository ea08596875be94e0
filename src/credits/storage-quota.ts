import type { Tx } from '../db/database.ts';
import { ServiceError } from '../errors.ts';
import type { WorkspaceId } from '../ids.ts';

/**
 * Counts bytes against the workspace's storage quota in one guarded statement.
 * @returns false when they do not fit; the caller rolls back
 */
export async function reserveBytes(tx: Tx, workspaceId: WorkspaceId, bytes: number): Promise<boolean> {
  if (bytes === 0) return true;
  const result = await tx
    .updateTable('workspaces')
    .set((eb) => ({ storage_bytes_used: eb('storage_bytes_used', '+', bytes) }))
    .where('id', '=', workspaceId)
    .where((eb) => eb(eb('storage_bytes_used', '+', bytes), '<=', eb.ref('storage_bytes_limit')))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Subtracts bytes that `reserveBytes` had counted. */
export async function releaseBytes(tx: Tx, workspaceId: WorkspaceId, bytes: number): Promise<void> {
  if (bytes === 0) return;
  await tx
    .updateTable('workspaces')
    .set((eb) => ({ storage_bytes_used: eb('storage_bytes_used', '-', bytes) }))
    .where('id', '=', workspaceId)
    .execute();
}

/** 429 for images that would not fit (contract.md T10). */
export const storageQuotaExceeded = (bytes: number): ServiceError =>
  new ServiceError(
    'QUOTA_EXCEEDED',
    `The images need ${bytes} bytes, more than is left of the workspace's storage quota.`,
  );
