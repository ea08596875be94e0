import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every run and purchase writes here. */
export const online = true;

const BATCH = 5_000;

/** What an entry is called outside: its number counts over all workspaces and is nobody's business. */
export async function up(db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  // Without a default first: with one, every row would be written under the lock.
  await steps.alter(sql`ALTER TABLE ledger_entries ADD COLUMN IF NOT EXISTS entry_id uuid`);
  await steps.alter(sql`ALTER TABLE ledger_entries ALTER COLUMN entry_id SET DEFAULT gen_random_uuid()`);
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const { rows }: { rows: { last: string | null }[] } = await sql<{ last: string | null }>`
      WITH batch AS (
        SELECT id FROM ledger_entries WHERE id > ${after} ORDER BY id LIMIT ${BATCH}
      ), filled AS (
        UPDATE ledger_entries entry SET entry_id = gen_random_uuid()
        FROM batch WHERE entry.id = batch.id AND entry.entry_id IS NULL
      )
      SELECT max(id)::text AS last FROM batch`.execute(db);
    after = rows[0]?.last ?? undefined;
  }
  await steps.createIndex('ledger_entries_entry_key', 'ON ledger_entries (entry_id)', 'UNIQUE');
  // Proven beside everybody else; with the proof at hand, NOT NULL takes a moment.
  await steps.alter(sql`ALTER TABLE ledger_entries DROP CONSTRAINT IF EXISTS ledger_entries_entry_check`);
  await steps.alter(sql`
    ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_entry_check CHECK (entry_id IS NOT NULL) NOT VALID`);
  await steps.alter(sql`ALTER TABLE ledger_entries VALIDATE CONSTRAINT ledger_entries_entry_check`);
  await steps.alter(sql`ALTER TABLE ledger_entries ALTER COLUMN entry_id SET NOT NULL`);
  await steps.alter(sql`ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_entry_check`);
}

export async function down(_db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.dropIndex('ledger_entries_entry_key');
  await steps.alter(sql`ALTER TABLE ledger_entries DROP COLUMN IF EXISTS entry_id`);
}
