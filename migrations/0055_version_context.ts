import { type Kysely, sql } from 'kysely';

/** What the version has in the place of a text that a refresh translates. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE translation_segments ADD COLUMN in_version jsonb`.execute(db);
}
