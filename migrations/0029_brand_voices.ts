import { type Kysely, sql } from 'kysely';

/** What articles are written by: voices and templates of a workspace, and what a project prefers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE brand_voices (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 120),
      name_key text NOT NULL,
      instructions text NOT NULL CHECK (char_length(instructions) BETWEEN 1 AND 4000),
      is_default boolean NOT NULL DEFAULT false,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT brand_voices_tenant_key UNIQUE (workspace_id, id),
      CONSTRAINT brand_voices_name_key UNIQUE (workspace_id, name_key)
    )`.execute(db);
  await sql`CREATE UNIQUE INDEX brand_voices_default_key ON brand_voices (workspace_id) WHERE is_default`.execute(
    db,
  );
  await sql`
    CREATE TABLE content_templates (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 120),
      name_key text NOT NULL,
      text text NOT NULL CHECK (char_length(text) BETWEEN 1 AND 8000),
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT content_templates_name_key UNIQUE (workspace_id, name_key)
    )`.execute(db);
  await sql`
    ALTER TABLE projects
      ADD COLUMN hero_image_style text,
      ADD COLUMN inline_image_style text,
      ADD COLUMN default_brand_voice_id uuid,
      ADD CONSTRAINT projects_default_brand_voice_fkey FOREIGN KEY (workspace_id, default_brand_voice_id)
        REFERENCES brand_voices (workspace_id, id) ON DELETE SET NULL (default_brand_voice_id)`.execute(db);
  // For the deletion of a voice, which looks for the projects that prefer it.
  await sql`
    CREATE INDEX projects_default_brand_voice_idx ON projects (default_brand_voice_id)
      WHERE default_brand_voice_id IS NOT NULL`.execute(db);
}
