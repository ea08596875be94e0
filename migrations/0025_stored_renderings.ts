import { type Kysely, sql } from 'kysely';

/** The renderer that an article's rendering is of, where its body shows nothing that others can change. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE articles ADD COLUMN rendered_by smallint`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE articles DROP COLUMN rendered_by`.execute(db);
}
