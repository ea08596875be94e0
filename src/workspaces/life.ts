import { recordAudit } from '../audit/record.ts';
import { requireOperator, type VerbContext } from '../context.ts';
import { clockTimestamp } from '../db/clock.ts';
import type { Tx } from '../db/database.ts';
import { asService } from '../db/guard.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict, notFound } from '../errors.ts';
import type { WorkspaceId } from '../ids.ts';
import { updateSilence } from '../webhooks/endpoints/silence.ts';

/** A guarded change of the workspace's state. @returns whether it changed */
type Change = (tx: Tx, workspaceId: WorkspaceId) => Promise<boolean>;

/** Changes the state, and with it whether anything is sent, with an audit entry. The present state changes nothing. */
async function changeState(context: VerbContext, action: string, change: Change): Promise<void> {
  const { db, actor } = context;
  requireOperator(actor);
  const { workspaceId } = actor;
  // An operator's guarded database refuses deleted workspaces, which can be restored.
  await inTransaction(asService(db), async (tx) => {
    if (!(await change(tx, workspaceId))) return;
    await updateSilence(tx, workspaceId);
    await recordAudit(tx, context, { action, targetType: 'workspace', targetId: workspaceId });
  });
}

const setSuspended =
  (suspended: boolean): Change =>
  async (tx, workspaceId) => {
    const { numUpdatedRows } = await tx
      .updateTable('workspaces')
      .set({ suspended_at: suspended ? clockTimestamp : null })
      .where('id', '=', workspaceId)
      .where('deleted_at', 'is', null)
      .where('suspended_at', suspended ? 'is' : 'is not', null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  };

/**
 * Suspends a workspace (operator only): its keys get 403, queued jobs and deliveries wait. What has begun ends
 * (contract.md L6 to L9).
 */
export const suspendWorkspace = (context: VerbContext): Promise<void> =>
  changeState(context, 'workspaces.suspended', setSuspended(true));

/** Ends a suspension: what waited goes on (operator only). */
export const resumeWorkspace = (context: VerbContext): Promise<void> =>
  changeState(context, 'workspaces.resumed', setSuspended(false));

/**
 * Takes a deletion back (operator only; contract.md L2): keys, endpoints and their secrets are as they were.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT once its rows are being removed
 */
export const restoreWorkspace = (context: VerbContext): Promise<void> =>
  changeState(context, 'workspaces.restored', async (tx, workspaceId) => {
    const { numUpdatedRows } = await tx
      .updateTable('workspaces')
      .set({ deleted_at: null })
      .where('id', '=', workspaceId)
      .where('deleted_at', 'is not', null)
      .where('emptying_since', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) return true;
    const { emptying_since } = await tx
      .selectFrom('workspaces')
      .select('emptying_since')
      .where('id', '=', workspaceId)
      .executeTakeFirstOrThrow(() => notFound('workspace'));
    if (emptying_since !== null) throw conflict('The rows of this workspace are being removed: it is gone.');
    return false;
  });
