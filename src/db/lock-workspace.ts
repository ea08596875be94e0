import type { WorkspaceId } from '../ids.ts';
import type { Tx } from './database.ts';

/** Who adds what a workspace has only so many of takes a turn at its row, so that none is counted too late. */
export async function lockWorkspace(tx: Tx, workspaceId: WorkspaceId): Promise<void> {
  await tx.selectFrom('workspaces').select('id').where('id', '=', workspaceId).forNoKeyUpdate().execute();
}
