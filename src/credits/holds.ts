import type { Queryable, Tx } from '../db/database.ts';
import type { HoldPurpose } from '../db/tables.ts';
import { isServedWorkspace } from '../db/workspace-state.ts';
import { ServiceError } from '../errors.ts';
import { type HoldId, newId, type WorkspaceId } from '../ids.ts';

/**
 * Opens the hold of one run, the row only: `reserveCredits` takes the credits. It locks the wallet and therefore comes
 * last in its transaction.
 */
export async function openHold(
  tx: Tx,
  hold: { workspaceId: WorkspaceId; purpose: HoldPurpose; runId: string; amount: number },
): Promise<void> {
  await tx
    .insertInto('holds')
    .values({
      id: newId<HoldId>(),
      workspace_id: hold.workspaceId,
      purpose: hold.purpose,
      run_id: hold.runId,
      amount: hold.amount,
    })
    .execute();
}

/**
 * Moves credits from available to reserved in one guarded statement, so that no race overdraws a wallet.
 * @returns false when the wallet does not cover the amount, or the workspace is deleted or suspended; the caller rolls back
 */
export async function reserveCredits(tx: Tx, workspaceId: WorkspaceId, amount: number): Promise<boolean> {
  const result = await tx
    .updateTable('wallets')
    .set((eb) => ({ reserved: eb('reserved', '+', amount) }))
    .where('workspace_id', '=', workspaceId)
    .where((eb) => eb(eb('balance', '-', eb.ref('reserved')), '>=', amount))
    .where(isServedWorkspace(workspaceId))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** 402 with the required amount (contract.md T7). */
export const insufficientCredits = (amount: number): ServiceError =>
  new ServiceError(
    'INSUFFICIENT_CREDITS',
    `This needs ${amount} ${amount === 1 ? 'credit' : 'credits'}, more than the workspace has available.`,
  );

/** An open run without an open hold: nothing may be charged for it, and repeating cannot help. */
export class MissingHoldError extends Error {
  override readonly name = 'MissingHoldError';
}

/** True while the run's credits are held. */
export async function isHoldOpen(db: Queryable, runId: string): Promise<boolean> {
  const hold = await db
    .selectFrom('holds')
    .select('id')
    .where('run_id', '=', runId)
    .where('status', '=', 'open')
    .executeTakeFirst();
  return hold !== undefined;
}

/**
 * Ends an open hold by charging `credits` of it and releasing the rest. Settling and releasing share the guard on the
 * hold's status, so exactly one of them takes effect, once.
 * @returns false when the hold had already ended; nothing is changed then
 */
export const settleHold = (tx: Tx, runId: string, credits: number): Promise<boolean> =>
  endHold(tx, runId, { status: 'settled', settled_amount: credits });

/**
 * Ends an open hold and releases all of it.
 * @returns false when the hold had already ended; nothing is changed then
 */
export const releaseHold = (tx: Tx, runId: string): Promise<boolean> =>
  endHold(tx, runId, { status: 'released' });

async function endHold(
  tx: Tx,
  runId: string,
  end: { status: 'settled'; settled_amount: number } | { status: 'released'; settled_amount?: never },
): Promise<boolean> {
  const { settled_amount: charged = 0 } = end;
  const hold = await tx
    .updateTable('holds')
    .set((eb) => ({ ...end, ended_at: eb.fn('now') }))
    .where('run_id', '=', runId)
    .where('status', '=', 'open')
    .returning(['id', 'workspace_id', 'amount'])
    .executeTakeFirst();
  if (hold === undefined) return false;
  if (charged > 0) {
    await tx
      .insertInto('ledger_entries')
      .values({ workspace_id: hold.workspace_id, kind: 'settlement', amount: -charged, hold_id: hold.id })
      .execute();
  }
  await tx
    .updateTable('wallets')
    .set((eb) => ({ balance: eb('balance', '-', charged), reserved: eb('reserved', '-', hold.amount) }))
    .where('workspace_id', '=', hold.workspace_id)
    .execute();
  return true;
}
