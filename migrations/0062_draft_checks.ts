import { type Kysely, sql } from 'kysely';

/** What the checks of a text found, for the report of its job. Parts that are still to be made are planned as they come. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE generations ADD COLUMN checks jsonb`.execute(db);
}
