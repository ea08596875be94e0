import { recordAudit } from '../audit/record.ts';
import { requireOperator, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { recordEvents } from '../events/record.ts';
import { newId } from '../ids.ts';
import { type Wallet, walletOf } from './wallet.ts';

/**
 * Adds plan credits to the workspace's wallet: ledger entry, balance, audit entry and the event
 * credits.granted in one transaction. A payment event that was granted before changes nothing.
 */
export async function grantCredits(
  context: VerbContext,
  input: { amount: number; paymentEventId?: string | undefined },
): Promise<Wallet> {
  requireOperator(context.actor);
  const { workspaceId } = context.actor;
  return inTransaction(context.db, async (tx) => {
    const paymentEventId = input.paymentEventId ?? `grant_${newId()}`;
    const entry = await tx
      .insertInto('ledger_entries')
      .values({
        workspace_id: workspaceId,
        kind: 'grant',
        amount: input.amount,
        payment_event_id: paymentEventId,
      })
      .onConflict((on) => on.constraint('ledger_entries_payment_event_key').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (entry !== undefined) {
      await recordEvents(tx, context, [
        { type: 'credits.granted', data: { creditAmount: input.amount, paymentEventId } },
      ]);
      await recordAudit(tx, context, {
        action: 'credits.granted',
        targetType: 'wallet',
        targetId: workspaceId,
        details: { amount: input.amount, paymentEventId },
      });
      await tx
        .updateTable('wallets')
        .set((eb) => ({ balance: eb('balance', '+', input.amount) }))
        .where('workspace_id', '=', workspaceId)
        .execute();
    }
    return walletOf(tx, workspaceId);
  });
}
