import { recordAudit } from '../audit/record.ts';
import { requireOperator, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { recordEvents } from '../events/record.ts';
import { newId } from '../ids.ts';
import { type Wallet, walletOf } from './wallet.ts';

export interface AddCredits {
  /** Credits, 1 or more. */
  readonly amount: number;
  /** The payment provider's event; one of our own making when left out. */
  readonly paymentEventId?: string | undefined;
}

/** What each way of adding credits is called. */
const KINDS = {
  grant: { event: 'credits.granted', action: 'credits.granted' },
  purchase: { event: 'credits.purchased', action: 'credits.purchased' },
} as const;

/**
 * Adds credits to the workspace's wallet: ledger entry, balance, audit entry and event in one transaction.
 * A payment event counts once, whichever way it was told before: repeated, it changes nothing.
 */
export async function addCredits(
  context: VerbContext,
  kind: keyof typeof KINDS,
  { amount, paymentEventId = `${kind}_${newId()}` }: AddCredits,
): Promise<Wallet> {
  requireOperator(context.actor);
  const { workspaceId } = context.actor;
  const { event, action } = KINDS[kind];
  return inTransaction(context.db, async (tx) => {
    const entry = await tx
      .insertInto('ledger_entries')
      .values({ workspace_id: workspaceId, kind, amount, payment_event_id: paymentEventId })
      .onConflict((on) => on.constraint('ledger_entries_payment_event_key').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (entry !== undefined) {
      await recordEvents(tx, context, [{ type: event, data: { creditAmount: amount, paymentEventId } }]);
      await recordAudit(tx, context, {
        action,
        targetType: 'wallet',
        targetId: workspaceId,
        details: { amount, paymentEventId },
      });
      await tx
        .updateTable('wallets')
        .set((eb) => ({ balance: eb('balance', '+', amount) }))
        .where('workspace_id', '=', workspaceId)
        .execute();
    }
    return walletOf(tx, workspaceId);
  });
}
