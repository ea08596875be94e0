import { type Kysely, sql } from 'kysely';

/**
 * From what each version was translated, and what was written. One row a version: it is always read and written as a
 * whole. The source has no foreign key: it may go, and whoever deletes it should not look for its versions. It is null when it went before
 * the translation ended.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE article_provenance (
      article_id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      source_article_id uuid,
      units jsonb NOT NULL,
      CONSTRAINT article_provenance_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE
    )`.execute(db);
}
