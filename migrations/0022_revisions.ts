import { type Kysely, sql } from 'kysely';

/** Earlier states of articles, and who wrote the present one since when. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Null in articles that nobody has saved since, and in those that only a job has made.
  await sql`
    ALTER TABLE articles
      ADD COLUMN author_kind text,
      ADD COLUMN author_id uuid,
      ADD COLUMN author_since timestamptz(3)`.execute(db);
  // Postgres compresses large documents by itself, and copies those of articles as they are stored.
  await sql`
    CREATE TABLE article_revisions (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      workspace_id uuid NOT NULL,
      article_id uuid NOT NULL,
      title text NOT NULL,
      document jsonb NOT NULL,
      meta_title text,
      meta_description text,
      target_keywords text[] NOT NULL,
      secondary_keywords text[] NOT NULL,
      word_count integer,
      author_kind text CHECK (author_kind IN ('api_key', 'operator', 'job')),
      author_id uuid,
      author_since timestamptz(3),
      created_at timestamptz(3) NOT NULL,
      CONSTRAINT article_revisions_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE
    )`.execute(db);
  await sql`
    CREATE INDEX article_revisions_article_idx ON article_revisions (article_id, created_at DESC, id DESC)`.execute(
    db,
  );
  await sql`CREATE INDEX article_revisions_created_idx ON article_revisions (created_at)`.execute(db);
}
