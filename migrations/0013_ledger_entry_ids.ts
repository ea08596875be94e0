import { type Kysely, sql } from 'kysely';

/** What an entry is called outside: its number counts over all workspaces and is nobody's business. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE ledger_entries ADD COLUMN entry_id uuid NOT NULL DEFAULT gen_random_uuid()`.execute(
    db,
  );
  await sql`CREATE UNIQUE INDEX ledger_entries_entry_key ON ledger_entries (entry_id)`.execute(db);
}
