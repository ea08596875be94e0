import { type Kysely, sql } from 'kysely';

/** The style sheet of each version, and the one that a job goes by. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE article_style_sheets (
      article_id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      sheet jsonb NOT NULL,
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT article_style_sheets_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE
    )`.execute(db);
  await sql`ALTER TABLE translations DROP COLUMN terms, ADD COLUMN sheet jsonb`.execute(db);
}
