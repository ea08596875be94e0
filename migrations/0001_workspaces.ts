import { type Kysely, sql } from 'kysely';

/** Workspaces with their roles, keys and audit log. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE workspaces (
      id uuid PRIMARY KEY,
      name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 120),
      ai_operations_limit integer NOT NULL DEFAULT 1000 CHECK (ai_operations_limit >= 0),
      storage_bytes_limit bigint NOT NULL DEFAULT 1073741824 CHECK (storage_bytes_limit >= 0),
      storage_bytes_used bigint NOT NULL DEFAULT 0 CHECK (storage_bytes_used >= 0),
      created_at timestamptz(3) NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`
    CREATE TABLE roles (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 120),
      permissions text[] NOT NULL,
      built_in boolean NOT NULL DEFAULT false,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      updated_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT roles_name_key UNIQUE (workspace_id, name),
      CONSTRAINT roles_tenant_key UNIQUE (workspace_id, id)
    )`.execute(db);
  await sql`
    CREATE TABLE api_keys (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      role_id uuid,
      label text NOT NULL CHECK (char_length(label) BETWEEN 1 AND 120),
      prefix text NOT NULL CHECK (char_length(prefix) = 16),
      key_hash bytea NOT NULL CHECK (octet_length(key_hash) = 32),
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      last_used_at timestamptz(3),
      expires_at timestamptz(3),
      revoked_at timestamptz(3),
      CONSTRAINT api_keys_hash_key UNIQUE (key_hash),
      CONSTRAINT api_keys_role_fkey FOREIGN KEY (workspace_id, role_id)
        REFERENCES roles (workspace_id, id) ON DELETE SET NULL (role_id)
    )`.execute(db);
  await sql`CREATE INDEX api_keys_workspace_idx ON api_keys (workspace_id, created_at)`.execute(db);
  await sql`CREATE INDEX api_keys_role_idx ON api_keys (role_id)`.execute(db);
  await sql`
    CREATE TABLE audit_entries (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      actor_kind text NOT NULL CHECK (actor_kind IN ('api_key', 'operator', 'system')),
      actor_id uuid,
      action text NOT NULL,
      target_type text NOT NULL,
      target_id uuid,
      details jsonb NOT NULL DEFAULT '{}',
      request_id text,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX audit_entries_workspace_idx ON audit_entries (workspace_id, created_at DESC, id DESC)`.execute(
    db,
  );
}
