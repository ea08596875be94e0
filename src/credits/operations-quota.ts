import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { ServiceError } from '../errors.ts';
import type { WorkspaceId } from '../ids.ts';

/**
 * Counts one AI operation in the given month (`YYYY-MM`) against the workspace's limit, in one guarded statement that
 * races can't overrun.
 * @returns false when the limit is reached; the caller rolls back
 */
export async function countOperation(tx: Tx, workspaceId: WorkspaceId, month: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    INSERT INTO ai_operation_usage AS usage (workspace_id, month, used)
    SELECT id, ${month}, 1 FROM workspaces WHERE id = ${workspaceId} AND ai_operations_limit > 0
    ON CONFLICT (workspace_id, month) DO UPDATE SET used = usage.used + 1
    WHERE usage.used < (SELECT ai_operations_limit FROM workspaces WHERE id = ${workspaceId})
  `.execute(tx);
  return numAffectedRows === 1n;
}

/** Subtracts an operation from the month that counted it. */
export async function uncountOperation(tx: Tx, workspaceId: WorkspaceId, month: string): Promise<void> {
  await tx
    .updateTable('ai_operation_usage')
    .set((eb) => ({ used: eb('used', '-', 1) }))
    .where('workspace_id', '=', workspaceId)
    .where('month', '=', month)
    .execute();
}

/** 429 (contract.md S8). */
export const aiQuotaExceeded = (): ServiceError =>
  new ServiceError(
    'QUOTA_EXCEEDED',
    'The workspace has used up its AI operations for this month. The count resets on the first of the month (UTC).',
  );
