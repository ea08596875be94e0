import { type Kysely, sql } from 'kysely';

/** Projects, articles with their assets, and categories. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE projects (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
      languages text[] NOT NULL,
      primary_language text NOT NULL,
      archived_at timestamptz(3),
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT projects_tenant_key UNIQUE (workspace_id, id),
      CONSTRAINT projects_primary_language_check CHECK (primary_language = ANY (languages))
    )`.execute(db);
  await sql`
    CREATE TABLE articles (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      project_id uuid NOT NULL,
      title text NOT NULL,
      slug text NOT NULL,
      status text NOT NULL CHECK (status IN ('DRAFT', 'QUEUED', 'PROCESSING', 'NEEDS_REVIEW',
        'CHANGES_REQUESTED', 'APPROVED', 'PUBLISHED')),
      document jsonb NOT NULL,
      content_html text,
      content_markdown text,
      meta_title text,
      meta_description text,
      target_keywords text[] NOT NULL DEFAULT '{}',
      secondary_keywords text[] NOT NULL DEFAULT '{}',
      primary_language text NOT NULL,
      translation_group_id uuid NOT NULL,
      generation_config jsonb,
      outline jsonb,
      created_by uuid,
      published_at timestamptz(3),
      brief_id uuid,
      published_url text,
      word_count integer,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT articles_tenant_key UNIQUE (workspace_id, id),
      CONSTRAINT articles_project_fkey FOREIGN KEY (workspace_id, project_id)
        REFERENCES projects (workspace_id, id) ON DELETE CASCADE,
      CONSTRAINT articles_slug_key UNIQUE (project_id, primary_language, slug),
      CONSTRAINT articles_group_language_key UNIQUE (translation_group_id, primary_language)
    )`.execute(db);
  await sql`CREATE INDEX articles_project_idx ON articles (workspace_id, project_id, created_at DESC, id DESC)`.execute(
    db,
  );
  await sql`
    CREATE TABLE assets (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      article_id uuid NOT NULL,
      role text NOT NULL CHECK (role IN ('hero', 'inline')),
      content_hash text NOT NULL CHECK (content_hash ~ '^[0-9a-f]{64}$'),
      media_type text NOT NULL,
      byte_size bigint NOT NULL CHECK (byte_size >= 0),
      file_name text NOT NULL,
      alt_text text NOT NULL DEFAULT '',
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT assets_tenant_key UNIQUE (workspace_id, id),
      CONSTRAINT assets_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE
    )`.execute(db);
  await sql`CREATE INDEX assets_article_idx ON assets (article_id)`.execute(db);
  await sql`CREATE UNIQUE INDEX assets_hero_key ON assets (article_id) WHERE role = 'hero'`.execute(db);
  await sql`
    CREATE TABLE categories (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      primary_language text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT categories_tenant_key UNIQUE (workspace_id, id)
    )`.execute(db);
  await sql`CREATE INDEX categories_workspace_idx ON categories (workspace_id, created_at, id)`.execute(db);
  await sql`
    CREATE TABLE category_names (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      category_id uuid NOT NULL,
      language text NOT NULL,
      name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 80),
      name_key text NOT NULL,
      slug text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT category_names_category_fkey FOREIGN KEY (workspace_id, category_id)
        REFERENCES categories (workspace_id, id) ON DELETE CASCADE,
      CONSTRAINT category_names_language_key UNIQUE (category_id, language),
      CONSTRAINT category_names_name_key UNIQUE (workspace_id, language, name_key),
      CONSTRAINT category_names_slug_key UNIQUE (workspace_id, language, slug)
    )`.execute(db);
  await sql`
    CREATE TABLE article_categories (
      workspace_id uuid NOT NULL,
      article_id uuid NOT NULL,
      category_id uuid NOT NULL,
      position integer NOT NULL,
      PRIMARY KEY (article_id, category_id),
      CONSTRAINT article_categories_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE,
      CONSTRAINT article_categories_category_fkey FOREIGN KEY (workspace_id, category_id)
        REFERENCES categories (workspace_id, id) ON DELETE CASCADE
    )`.execute(db);
  await sql`CREATE INDEX article_categories_category_idx ON article_categories (category_id)`.execute(db);
}
