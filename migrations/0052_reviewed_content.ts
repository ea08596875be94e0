import { type Kysely, sql } from 'kysely';

/** What a reviewer reads of an article has a version of its own, and a review keeps the one that it was about. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE articles ADD COLUMN content_version integer NOT NULL DEFAULT 1`.execute(db);
  await sql`ALTER TABLE reviews ADD COLUMN content_tag text`.execute(db);
}
