import { type Kysely, sql } from 'kysely';

/** The terms of each workspace, and how each project speaks in each language. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE glossary_terms (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      source_language text NOT NULL,
      target_language text,
      source_term text NOT NULL,
      term_key text NOT NULL,
      target_term text,
      case_sensitive boolean NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT glossary_terms_key UNIQUE NULLS NOT DISTINCT
        (workspace_id, source_language, target_language, term_key),
      CONSTRAINT glossary_terms_target_check CHECK (target_language IS NOT NULL OR target_term IS NULL)
    )`.execute(db);
  await sql`
    CREATE INDEX glossary_terms_page_idx ON glossary_terms (workspace_id, created_at DESC, id DESC)`.execute(
    db,
  );
  await sql`
    CREATE TABLE translation_styles (
      workspace_id uuid NOT NULL,
      project_id uuid NOT NULL,
      language text NOT NULL,
      formality text CHECK (formality IN ('formal', 'informal')),
      instructions text,
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (project_id, language),
      CONSTRAINT translation_styles_project_fkey FOREIGN KEY (workspace_id, project_id)
        REFERENCES projects (workspace_id, id) ON DELETE CASCADE
    )`.execute(db);
}
