import type { Database } from '../../src/db/database.ts';
import type { WorkspaceId } from '../../src/ids.ts';

/** A workspace's credits as they are stored. */
export const storedWallet = (db: Database, workspaceId: WorkspaceId) =>
  db
    .selectFrom('wallets')
    .select(['balance', 'reserved'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow();
