import { type Kysely, sql } from 'kysely';

/**
 * What an article was researched from: pages as they were read, quotes of them, and its claims beside the passages they were
 * compared with. All go with the article. Jobs are pruned before articles, so none is referenced.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE article_sources (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      article_id uuid NOT NULL,
      job_id uuid NOT NULL,
      position integer NOT NULL CHECK (position > 0),
      url text NOT NULL,
      title text NOT NULL,
      site text NOT NULL,
      published_at timestamptz(3),
      fetched_at timestamptz(3) NOT NULL,
      hash text NOT NULL,
      text text NOT NULL,
      UNIQUE (workspace_id, article_id, id),
      UNIQUE (workspace_id, article_id, url),
      UNIQUE (workspace_id, article_id, position),
      CONSTRAINT article_sources_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE
    )`.execute(db);
  await sql`
    CREATE TABLE article_notes (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      article_id uuid NOT NULL,
      source_id uuid NOT NULL,
      position integer NOT NULL CHECK (position > 0),
      quote text NOT NULL,
      UNIQUE (workspace_id, article_id, position),
      CONSTRAINT article_notes_source_fkey FOREIGN KEY (workspace_id, article_id, source_id)
        REFERENCES article_sources (workspace_id, article_id, id) ON DELETE CASCADE
    )`.execute(db);
  await sql`CREATE INDEX article_notes_source_idx ON article_notes (source_id)`.execute(db);
  await sql`
    CREATE TABLE article_claims (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      article_id uuid NOT NULL,
      job_id uuid NOT NULL,
      position integer NOT NULL CHECK (position > 0),
      block_id text NOT NULL,
      sentence text NOT NULL,
      verdict text NOT NULL CHECK (verdict IN ('supported', 'contradicted', 'not_found')),
      source_id uuid,
      passage text,
      UNIQUE (workspace_id, article_id, position),
      CHECK ((source_id IS NULL) = (passage IS NULL)),
      CHECK (verdict = 'not_found' OR passage IS NOT NULL),
      CONSTRAINT article_claims_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE,
      CONSTRAINT article_claims_source_fkey FOREIGN KEY (workspace_id, article_id, source_id)
        REFERENCES article_sources (workspace_id, article_id, id) ON DELETE CASCADE
    )`.execute(db);
  await sql`CREATE INDEX article_claims_source_idx ON article_claims (source_id)`.execute(db);
}
