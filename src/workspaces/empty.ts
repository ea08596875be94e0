import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import type { WorkspaceId } from '../ids.ts';

/**
 * The tables that a large workspace has most rows in, each after those that refer to it, and how many go at once: an
 * article goes with its document, images and jobs. The rest goes with the workspace's own row.
 */
const LARGE = [
  ['webhook_deliveries', 1_000],
  ['events', 1_000],
  ['articles', 100],
  ['ai_operations', 1_000],
  ['audit_entries', 5_000],
  ['ledger_entries', 5_000],
  ['holds', 5_000],
] as const;
/** What one round of `reconcile` spends on deleted workspaces. */
const ROUND_MS = 30_000;

/**
 * Removes what a deleted workspace has, in batches that commit by themselves, and its row last. It can be called
 * again, and by several at once.
 * @param goesOn asked before each batch
 * @returns whether all of it is gone
 */
export async function emptyWorkspace(db: Database, id: WorkspaceId, goesOn: () => boolean): Promise<boolean> {
  for (const [table, most] of LARGE) {
    for (let removed: number = most; removed > 0; ) {
      if (!goesOn()) return false;
      removed = await inTransaction(db, async (tx) => {
        const { numAffectedRows = 0n } = await sql`
          DELETE FROM ${sql.table(table)} WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM ${sql.table(table)} WHERE workspace_id = ${id} LIMIT ${most}))`.execute(tx);
        return Number(numAffectedRows);
      });
    }
  }
  if (!goesOn()) return false;
  await db.deleteFrom('workspaces').where('id', '=', id).where('deleted_at', 'is not', null).execute();
  return true;
}

/**
 * Goes on with deleted workspaces that are not empty yet, for half a minute.
 * @param onProgress called before each batch; what it throws stops the work there
 * @param onError called for a workspace that could not be emptied; the others are, all the same
 */
export async function emptyDeletedWorkspaces({
  db,
  onProgress,
  onError,
}: {
  readonly db: Database;
  readonly onProgress: (looked: number) => void;
  readonly onError: (id: string, error: unknown) => void;
}): Promise<void> {
  const end = performance.now() + ROUND_MS;
  let batches = 0;
  const goesOn = () => {
    onProgress(batches);
    batches += 1;
    return performance.now() < end;
  };
  const deleted = await db
    .selectFrom('workspaces')
    .select('id')
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at')
    .execute();
  for (const { id } of deleted) {
    if (!goesOn()) return;
    await emptyWorkspace(db, id, goesOn).catch((error: unknown) => {
      // One that the worker's end or a cancellation stopped stops the others, too.
      onProgress(batches);
      onError(id, error);
    });
  }
}
