import { type Kysely, sql } from 'kysely';

/** The price says what a generation was admitted with; nothing reads the features that it was made of. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE generations DROP COLUMN features`.execute(db);
}
