import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import type { DeliveryStatus } from '../../../src/db/tables.ts';
import type { BurstId, DeliveryId, WorkspaceId } from '../../../src/ids.ts';

/** A delivery, open or ended. */
export interface Delivery {
  readonly id: DeliveryId;
  readonly workspace_id: WorkspaceId;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** Attempts begun; 0 once it has ended. */
  readonly begun: number;
  readonly in_run: boolean;
  readonly burst_id: BurstId | null;
  readonly article_id: string | null;
  readonly response_status: number | null;
  readonly ended_at: Date | null;
}

export const isFree = ({ ended_at, in_run, burst_id }: Delivery): boolean =>
  ended_at === null && !in_run && burst_id === null;

/** All of them, the oldest first. */
export async function readDeliveries(db: Database): Promise<Delivery[]> {
  const { rows } = await sql<Delivery>`
    SELECT delivery.*, event.article_id FROM (
      SELECT id, event_id, workspace_id, status, attempts, begun, in_run, burst_id, response_status,
        NULL::timestamptz AS ended_at FROM webhook_open
      UNION ALL
      SELECT id, event_id, workspace_id, status, attempts, 0, in_run, burst_id, response_status, ended_at
      FROM webhook_log
    ) AS delivery JOIN events AS event ON event.id = delivery.event_id
    ORDER BY delivery.id`.execute(db);
  return rows;
}

export async function readDelivery(db: Database, id: DeliveryId): Promise<Delivery> {
  const delivery = (await readDeliveries(db)).find((row) => row.id === id);
  if (delivery === undefined) throw new Error(`no delivery ${id}`);
  return delivery;
}

/** Those that are free and have never been tried. */
export async function countUntried(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM webhook_open
    WHERE NOT in_run AND burst_id IS NULL AND attempts = 0`.execute(db);
  return rows[0]?.count ?? 0;
}

/** How much is open. Deliveries whose next attempt lies further ahead than any wait is long are not counted. */
export async function openWork(db: Database) {
  const { rows } = await sql<Record<'deliveries' | 'jobs' | 'operations' | 'holds', number>>`
    SELECT (SELECT count(*)::integer FROM webhook_open WHERE due_at < now() + interval '9 minutes') AS deliveries,
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
