import { type Kysely, sql } from 'kysely';

/** Changes of versions that people are to accept or reject, one of a unit at a time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE proposals (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      article_id uuid NOT NULL,
      job_id uuid NOT NULL,
      source_article_id uuid NOT NULL,
      unit text NOT NULL,
      proposal jsonb NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT proposals_unit_key UNIQUE (article_id, unit),
      CONSTRAINT proposals_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE
    )`.execute(db);
  await sql`CREATE INDEX proposals_page_idx ON proposals (article_id, created_at DESC, id DESC)`.execute(db);
  await sql`CREATE INDEX proposals_age_idx ON proposals (created_at)`.execute(db);
}
