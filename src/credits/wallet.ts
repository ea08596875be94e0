import { requireOperator, requirePermissions, type VerbContext } from '../context.ts';
import type { Queryable } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { isLivingWorkspace } from '../db/workspace-state.ts';
import { notFound } from '../errors.ts';
import { recordChange } from '../events/record.ts';
import { newId, type WorkspaceId } from '../ids.ts';
import type { Wallet } from './schemas.ts';

/** The wallet as of this statement. */
export async function walletOf(db: Queryable, workspaceId: WorkspaceId): Promise<Wallet> {
  const { balance, reserved } = await db
    .selectFrom('wallets')
    .select(['balance', 'reserved'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  return { balance, reserved, available: balance - reserved };
}

/** Reads the wallet of the actor's workspace (credits.read). */
export async function readWallet({ db, actor }: VerbContext): Promise<Wallet> {
  requirePermissions(actor, 'credits.read');
  return walletOf(db, actor.workspaceId);
}

/** Credits that one command can add. */
export const MAX_CREDITS = 1_000_000_000;

interface AddCredits {
  /** Credits, 1 to {@link MAX_CREDITS}. */
  readonly amount: number;
  /** The payment provider's event id; generated when omitted. */
  readonly paymentEventId?: string | undefined;
}

/** The event of each way to add credits, also its audit action. */
const EVENTS = { grant: 'credits.granted', purchase: 'credits.purchased' } as const;

/**
 * Adds credits to the workspace's wallet: ledger entry, balance, audit entry and event in one transaction. A payment
 * event counts once, however it arrived: repeated, it changes nothing.
 */
async function addCredits(
  context: VerbContext,
  kind: keyof typeof EVENTS,
  { amount, paymentEventId = `${kind}_${newId()}` }: AddCredits,
): Promise<Wallet> {
  requireOperator(context.actor);
  const { workspaceId } = context.actor;
  const event = EVENTS[kind];
  return inTransaction(context.db, async (tx) => {
    const entry = await tx
      .insertInto('ledger_entries')
      .values({ workspace_id: workspaceId, kind, amount, payment_event_id: paymentEventId })
      .onConflict((on) => on.constraint('ledger_entries_payment_event_key').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (entry !== undefined) {
      const details = { amount, paymentEventId };
      const audit = { action: event, targetType: 'wallet', targetId: workspaceId, details };
      const data = { creditAmount: amount, paymentEventId };
      await recordChange(tx, context, audit, [{ type: event, data }]);
      const { numUpdatedRows } = await tx
        .updateTable('wallets')
        .set((eb) => ({ balance: eb('balance', '+', amount) }))
        .where('workspace_id', '=', workspaceId)
        .where(isLivingWorkspace(workspaceId))
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw notFound(`workspace ${workspaceId}`);
    }
    return walletOf(tx, workspaceId);
  });
}

/** Adds plan credits of a paid invoice and emits credits.granted (operator only). */
export const grantCredits = (context: VerbContext, input: AddCredits): Promise<Wallet> =>
  addCredits(context, 'grant', input);

/** Adds the credits of a paid credit pack and emits credits.purchased (operator only). */
export const purchaseCredits = (context: VerbContext, input: AddCredits): Promise<Wallet> =>
  addCredits(context, 'purchase', input);
