import { requirePermissions, type VerbContext } from '../context.ts';
import type { Database } from '../db/database.ts';
import { invalid } from '../errors.ts';
import { iso } from '../fields.ts';
import { type LedgerEntryId, parseId, type WorkspaceId } from '../ids.ts';
import type { LedgerPage } from './schemas.ts';

/** The position after an entry, as opaque text. */
const encodeCursor = (id: LedgerEntryId): string => Buffer.from(`ledger ${id}`).toString('base64url');

const badCursor = () => invalid('query/cursor', 'Send the nextCursor of the previous page, unchanged.');

/** @throws {ServiceError} INVALID_REQUEST for text that is no cursor */
export function decodeLedgerCursor(cursor: string | undefined): LedgerEntryId | null {
  if (cursor === undefined) return null;
  const [, text = ''] = /^ledger (.+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const id = parseId<LedgerEntryId>(text);
  if (id === null) throw badCursor();
  return id;
}

/** The number that orders all entries; internal only. */
async function numberOf(db: Database, workspaceId: WorkspaceId, id: LedgerEntryId): Promise<number> {
  const row = await db
    .selectFrom('ledger_entries')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('entry_id', '=', id)
    .executeTakeFirstOrThrow(badCursor);
  return row.id;
}

/** One page of the workspace's ledger (credits.read), newest first, whose entries add up to the balance. */
export async function listLedger(
  { db, actor }: VerbContext,
  { limit, before }: { limit: number; before: LedgerEntryId | null },
): Promise<LedgerPage> {
  requirePermissions(actor, 'credits.read');
  let query = db
    .selectFrom('ledger_entries')
    .leftJoin('holds', 'holds.id', 'ledger_entries.hold_id')
    .select([
      'ledger_entries.entry_id',
      'ledger_entries.kind',
      'ledger_entries.amount',
      'ledger_entries.payment_event_id',
      'ledger_entries.created_at',
      'holds.purpose',
      'holds.run_id',
    ])
    .where('ledger_entries.workspace_id', '=', actor.workspaceId)
    .orderBy('ledger_entries.id', 'desc')
    .limit(limit + 1);
  if (before !== null) {
    query = query.where('ledger_entries.id', '<', await numberOf(db, actor.workspaceId, before));
  }
  const rows = await query.execute();
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    entries: shown.map((row) => ({
      id: row.entry_id,
      kind: row.kind,
      amount: row.amount,
      paymentEventId: row.payment_event_id,
      purpose: row.purpose,
      runId: row.run_id,
      createdAt: iso(row.created_at),
    })),
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor(last.entry_id) : null,
  };
}
