import { type Kysely, sql } from 'kysely';

/** Endpoints and the events that they subscribe to. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE webhook_endpoints (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      url text NOT NULL,
      secret text NOT NULL,
      events text[] NOT NULL CHECK (cardinality(events) > 0),
      description text NOT NULL DEFAULT '' CHECK (char_length(description) <= 500),
      active boolean NOT NULL DEFAULT true,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT webhook_endpoints_tenant_key UNIQUE (workspace_id, id)
    )`.execute(db);
  await sql`CREATE INDEX webhook_endpoints_workspace_idx ON webhook_endpoints (workspace_id, created_at)`.execute(
    db,
  );
}
