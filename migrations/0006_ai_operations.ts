import { type Kysely, sql } from 'kysely';

/** Paid AI operations, how many of them each month counted, and the ideas that project suggestions draw on. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE ai_operations (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('article_categories', 'project_categories', 'category_names')),
      target_id uuid NOT NULL,
      languages text[] NOT NULL DEFAULT '{}',
      credits bigint NOT NULL CHECK (credits > 0),
      status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'settled', 'empty', 'failed')),
      quota_month text NOT NULL CHECK (quota_month ~ '^[0-9]{4}-[0-9]{2}$'),
      asked_at timestamptz(3),
      result jsonb,
      workflow_id text NOT NULL,
      request_id text,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      ended_at timestamptz(3),
      CONSTRAINT ai_operations_end_check CHECK ((status = 'open') = (ended_at IS NULL)),
      CONSTRAINT ai_operations_settled_check CHECK (status <> 'settled'
        OR (result IS NOT NULL AND asked_at IS NOT NULL)),
      CONSTRAINT ai_operations_released_check CHECK (status NOT IN ('empty', 'failed') OR result IS NULL)
    )`.execute(db);
  await sql`CREATE INDEX ai_operations_open_idx ON ai_operations (created_at, id) WHERE status = 'open'`.execute(
    db,
  );
  await sql`CREATE INDEX ai_operations_workspace_idx ON ai_operations (workspace_id, created_at)`.execute(db);
  await sql`
    CREATE TABLE ai_operation_usage (
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      month text NOT NULL CHECK (month ~ '^[0-9]{4}-[0-9]{2}$'),
      used integer NOT NULL CHECK (used >= 0),
      PRIMARY KEY (workspace_id, month)
    )`.execute(db);
  await sql`
    CREATE TABLE idea_clusters (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      project_id uuid NOT NULL,
      title text NOT NULL CHECK (char_length(title) BETWEEN 1 AND 200),
      keywords text[] NOT NULL DEFAULT '{}',
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT idea_clusters_title_key UNIQUE (project_id, title),
      CONSTRAINT idea_clusters_project_fkey FOREIGN KEY (workspace_id, project_id)
        REFERENCES projects (workspace_id, id) ON DELETE CASCADE
    )`.execute(db);
}
