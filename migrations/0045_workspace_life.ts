import { type Kysely, sql } from 'kysely';

/**
 * A workspace that is deleted or suspended, and a project that is deleted, until they are emptied or restored; and what
 * operators do, outside the workspaces.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE workspaces
      ADD COLUMN emptying_since timestamptz(3),
      ADD COLUMN suspended_at timestamptz(3)`.execute(db);
  // Those deleted before have lost their keys: nothing restores them.
  await sql`UPDATE workspaces SET emptying_since = deleted_at WHERE deleted_at IS NOT NULL`.execute(db);
  await sql`CREATE INDEX workspaces_deleted_idx ON workspaces (deleted_at) WHERE deleted_at IS NOT NULL`.execute(
    db,
  );
  await sql`ALTER TABLE webhook_endpoints ADD COLUMN silenced_at timestamptz(3)`.execute(db);
  await sql`
    ALTER TABLE projects
      ADD COLUMN deleted_at timestamptz(3),
      ADD COLUMN returned_bytes bigint NOT NULL DEFAULT 0`.execute(db);
  await sql`CREATE INDEX projects_deleted_idx ON projects (workspace_id, id) WHERE deleted_at IS NOT NULL`.execute(
    db,
  );
  await sql`
    CREATE TABLE operator_log (
      id uuid PRIMARY KEY,
      operator text NOT NULL,
      action text NOT NULL,
      workspace_id uuid NOT NULL,
      workspace_name text,
      target_type text NOT NULL,
      target_id text,
      created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
    )`.execute(db);
  await sql`CREATE INDEX operator_log_list_idx ON operator_log (created_at, id)`.execute(db);
  await sql`CREATE INDEX operator_log_workspace_idx ON operator_log (workspace_id, created_at, id)`.execute(
    db,
  );
}
