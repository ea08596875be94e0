import { type Kysely, sql } from 'kysely';

/** Failed work counts beside cancelled work, and texts that a later run has paid for count no longer. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE unpaid_work
      ADD COLUMN reason text NOT NULL DEFAULT 'cancelled' CHECK (reason IN ('cancelled', 'failed')),
      DROP CONSTRAINT unpaid_work_words_check,
      ADD CONSTRAINT unpaid_work_words_check CHECK (words >= 0)`.execute(db);
  await sql`ALTER TABLE translation_segments ADD COLUMN paid boolean NOT NULL DEFAULT false`.execute(db);
}
