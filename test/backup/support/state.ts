import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import type { DeliveryId } from '../../../src/ids.ts';

export const readDeliveries = (db: Database) =>
  db.selectFrom('webhook_deliveries').selectAll().orderBy('seq').execute();

export const readDelivery = (db: Database, id: DeliveryId) =>
  db.selectFrom('webhook_deliveries').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

export type Delivery = Awaited<ReturnType<typeof readDelivery>>;

/** How much is open. Deliveries whose next attempt lies further ahead than any wait is long are not counted. */
export async function openWork(db: Database) {
  const { rows } = await sql<Record<'deliveries' | 'jobs' | 'operations' | 'holds', number>>`
    SELECT (SELECT count(*)::integer FROM webhook_deliveries
        WHERE ended_at IS NULL AND next_attempt_at < now() + interval '9 minutes') AS deliveries,
      (SELECT count(*)::integer FROM jobs WHERE ended_at IS NULL) AS jobs,
      (SELECT count(*)::integer FROM ai_operations WHERE status = 'open') AS operations,
      (SELECT count(*)::integer FROM holds WHERE status = 'open') AS holds`.execute(db);
  return rows[0];
}

/** What `openWork` tells when there is none. */
export const nothingOpen = (work: Awaited<ReturnType<typeof openWork>>): boolean =>
  work !== undefined && Object.values(work).every((count) => count === 0);

/** Wallets that hold something, or whose balance is not the sum of their ledger. */
export async function wrongWallets(db: Database): Promise<unknown[]> {
  const { rows } = await sql`
    SELECT wallet.* FROM wallets AS wallet
    WHERE wallet.reserved <> 0 OR wallet.balance <> (
      SELECT coalesce(sum(amount), 0) FROM ledger_entries AS entry WHERE entry.workspace_id = wallet.workspace_id)
  `.execute(db);
  return rows;
}

/** The runs that credits were charged for, in the order of their ids. */
export async function chargedRuns(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('ledger_entries')
    .innerJoin('holds', 'holds.id', 'ledger_entries.hold_id')
    .select('holds.run_id')
    .execute();
  return rows.map(({ run_id }) => run_id).sort();
}
