import { type Kysely, sql } from 'kysely';

/** Reviews, the old slugs of published articles, and what lists and re-renders of articles look up. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE reviews (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      article_id uuid NOT NULL,
      decision text NOT NULL CHECK (decision IN ('approved', 'rejected', 'changes_requested')),
      previous_status text NOT NULL,
      comment text NOT NULL DEFAULT '' CHECK (char_length(comment) <= 5000),
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT reviews_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE
    )`.execute(db);
  await sql`CREATE INDEX reviews_article_idx ON reviews (article_id, created_at DESC, id DESC)`.execute(db);
  await sql`
    CREATE TABLE article_slug_redirects (
      project_id uuid NOT NULL,
      language text NOT NULL,
      slug text NOT NULL,
      workspace_id uuid NOT NULL,
      article_id uuid NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (project_id, language, slug),
      CONSTRAINT article_slug_redirects_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE
    )`.execute(db);
  await sql`CREATE INDEX article_slug_redirects_article_idx ON article_slug_redirects (article_id)`.execute(
    db,
  );
  await sql`CREATE INDEX articles_workspace_idx ON articles (workspace_id, created_at DESC, id DESC)`.execute(
    db,
  );
  await sql`
    CREATE INDEX articles_status_idx ON articles (workspace_id, status, created_at DESC, id DESC)`.execute(
    db,
  );
  await sql`
    CREATE INDEX articles_language_idx ON articles (workspace_id, primary_language, created_at DESC, id DESC)
  `.execute(db);
  // Whoever links to an article: asked when its address appears or goes away.
  await sql`
    CREATE INDEX articles_links_idx ON articles
      USING gin (jsonb_path_query_array(document, '$.blocks[*].links[*].articleId'))`.execute(db);
  await sql`CREATE INDEX projects_list_idx ON projects (workspace_id, created_at DESC, id DESC)`.execute(db);
}
