import { requirePermissions, type VerbContext } from '../context.ts';
import type { Queryable } from '../db/database.ts';
import type { WorkspaceId } from '../ids.ts';

/** contract.md T1; all in credits. */
export interface Wallet {
  readonly balance: number;
  readonly reserved: number;
  readonly available: number;
}

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
