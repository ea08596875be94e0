import { type ExpressionBuilder, sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { textBytes } from '../db/quotas.ts';
import type { Tables } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import type { WorkspaceId } from '../ids.ts';

/** SQL over `assets`: the bytes of an image that count for the quota, with its preview and thumbnail (contract.md F50). */
export const storedBytes = sql<number>`(byte_size + variant_bytes)`;

/** Whether bytes of images fit into the storage quota beside the workspace's images and texts. */
const fits = (workspaceId: WorkspaceId, bytes: number) => (eb: ExpressionBuilder<Tables, 'workspaces'>) =>
  eb(
    eb(eb('storage_bytes_used', '+', bytes), '+', textBytes(workspaceId)),
    '<=',
    eb.ref('storage_bytes_limit'),
  );

/**
 * Refuses images that do not fit, before their bytes are stored. Nothing is counted: `reserveBytes` decides.
 * @throws {ServiceError} QUOTA_EXCEEDED
 */
export async function requireBytes(tx: Tx, workspaceId: WorkspaceId, bytes: number): Promise<void> {
  if (bytes <= 0) return;
  const row = await tx
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', workspaceId)
    .where(fits(workspaceId, bytes))
    .executeTakeFirst();
  if (row === undefined) throw storageQuotaExceeded(bytes);
}

/**
 * Counts bytes of images against the workspace's storage quota, beside its texts, in one guarded statement. The commit
 * checks again, for texts that are written meanwhile.
 * @returns false when they do not fit; the caller rolls back
 */
export async function reserveBytes(tx: Tx, workspaceId: WorkspaceId, bytes: number): Promise<boolean> {
  if (bytes === 0) return true;
  const result = await tx
    .updateTable('workspaces')
    .set((eb) => ({ storage_bytes_used: eb('storage_bytes_used', '+', bytes) }))
    .where('id', '=', workspaceId)
    .where(fits(workspaceId, bytes))
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
