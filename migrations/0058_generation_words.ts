import { type Kysely, sql } from 'kysely';

/** The words that a text delivered decide its charge. A section may be left out; what was corrected in a text is counted by kind. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE generations ADD COLUMN delivered_words integer`.execute(db);
  await sql`
    ALTER TABLE generation_parts
      ADD COLUMN left_out boolean NOT NULL DEFAULT false,
      ADD COLUMN mended jsonb NOT NULL DEFAULT '{}'`.execute(db);
}
