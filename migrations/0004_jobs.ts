import { type Kysely, sql } from 'kysely';

/** Jobs, the source each translation works from, and its segments. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE jobs (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      project_id uuid NOT NULL,
      article_id uuid NOT NULL,
      kind text NOT NULL CHECK (kind IN ('generation', 'translation')),
      status text NOT NULL CHECK (status IN ('QUEUED', 'TRANSLATING', 'VALIDATING', 'RESEARCHING', 'OUTLINING',
        'WRITING', 'GENERATING_IMAGE_PROMPTS', 'GENERATING_IMAGES', 'PROCESSING_MEDIA', 'FINALIZING',
        'COMPLETED', 'FAILED', 'CANCELLED')),
      current_step text CHECK (current_step IN ('validate', 'research', 'outline', 'write', 'image-prompts',
        'images', 'media-processing', 'translate', 'finalize')),
      progress integer NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
      idempotency_key text NOT NULL CHECK (char_length(idempotency_key) BETWEEN 8 AND 200),
      estimated_credits bigint NOT NULL CHECK (estimated_credits >= 0),
      reserved_credits bigint NOT NULL CHECK (reserved_credits = estimated_credits),
      consumed_credits bigint NOT NULL DEFAULT 0 CHECK (consumed_credits BETWEEN 0 AND reserved_credits),
      held_bytes bigint NOT NULL DEFAULT 0 CHECK (held_bytes >= 0),
      error_code text CHECK (error_code IN ('GENERATION_FAILED', 'TRANSLATION_FAILED')),
      error_message text,
      workflow_id text NOT NULL,
      request_id text,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      ended_at timestamptz(3),
      CONSTRAINT jobs_idempotency_key_key UNIQUE (workspace_id, idempotency_key),
      CONSTRAINT jobs_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE,
      CONSTRAINT jobs_project_fkey FOREIGN KEY (workspace_id, project_id)
        REFERENCES projects (workspace_id, id) ON DELETE CASCADE,
      CONSTRAINT jobs_error_check CHECK ((status = 'FAILED') = (error_code IS NOT NULL)
        AND (error_code IS NULL) = (error_message IS NULL)),
      CONSTRAINT jobs_end_check CHECK ((status IN ('COMPLETED', 'FAILED', 'CANCELLED')) = (ended_at IS NOT NULL)),
      CONSTRAINT jobs_queued_check CHECK (status <> 'QUEUED' OR current_step IS NULL),
      CONSTRAINT jobs_completed_check CHECK (status <> 'COMPLETED' OR progress = 100)
    )`.execute(db);
  await sql`CREATE INDEX jobs_article_idx ON jobs (article_id, created_at DESC)`.execute(db);
  await sql`CREATE INDEX jobs_project_idx ON jobs (project_id)`.execute(db);
  await sql`CREATE INDEX jobs_open_idx ON jobs (created_at) WHERE ended_at IS NULL`.execute(db);
  await sql`
    CREATE TABLE translations (
      job_id uuid PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      source_article_id uuid,
      source_language text NOT NULL,
      target_language text NOT NULL,
      provider text,
      batch_count integer,
      snapshot jsonb,
      CONSTRAINT translations_source_fkey FOREIGN KEY (workspace_id, source_article_id)
        REFERENCES articles (workspace_id, id) ON DELETE SET NULL (source_article_id)
    )`.execute(db);
  await sql`CREATE INDEX translations_source_idx ON translations (source_article_id)`.execute(db);
  await sql`
    CREATE TABLE translation_segments (
      job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
      key text NOT NULL,
      batch integer NOT NULL,
      source_hash text NOT NULL,
      source_text text NOT NULL,
      target_text text,
      PRIMARY KEY (job_id, key)
    )`.execute(db);
  await sql`CREATE INDEX translation_segments_batch_idx ON translation_segments (job_id, batch)`.execute(db);
}
