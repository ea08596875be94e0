import type { WorkspaceId } from '../ids.ts';
import type { Tx } from './database.ts';

/** Locks the workspace's row, so that additions to a limited list are counted one after the other. */
export async function lockWorkspace(tx: Tx, workspaceId: WorkspaceId): Promise<void> {
  await tx.selectFrom('workspaces').select('id').where('id', '=', workspaceId).forNoKeyUpdate().execute();
}
