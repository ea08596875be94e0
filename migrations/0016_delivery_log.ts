import { type Kysely, sql } from 'kysely';

/** Deliveries that have not ended in a table of their own; those that have, and events, in partitions of a day. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE webhook_open (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      endpoint_id uuid NOT NULL,
      event_id uuid NOT NULL,
      event_created_at timestamptz(3) NOT NULL,
      event_type text NOT NULL,
      status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'failed')),
      attempts smallint NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 6),
      response_status integer,
      error_message text,
      attempt_log jsonb NOT NULL DEFAULT '[]',
      due_at timestamptz NOT NULL DEFAULT now(),
      in_run boolean NOT NULL DEFAULT false,
      burst_id uuid,
      begun smallint NOT NULL DEFAULT 0 CHECK (begun BETWEEN 0 AND 6),
      begun_token uuid,
      created_at timestamptz(3) NOT NULL,
      CONSTRAINT webhook_open_endpoint_fkey FOREIGN KEY (workspace_id, endpoint_id)
        REFERENCES webhook_endpoints (workspace_id, id),
      CONSTRAINT webhook_open_holder_check CHECK (NOT in_run OR burst_id IS NULL)
    ) WITH (
      fillfactor = 50,
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_threshold = 500,
      autovacuum_vacuum_cost_delay = 0
    )`.execute(db);
  await sql`CREATE INDEX webhook_open_due_idx ON webhook_open (endpoint_id, due_at, id)`.execute(db);
  await sql`CREATE INDEX webhook_open_status_idx ON webhook_open (workspace_id, status, created_at, id)`.execute(
    db,
  );
  await sql`CREATE INDEX webhook_open_runs_idx ON webhook_open (endpoint_id, due_at, id) WHERE in_run`.execute(
    db,
  );
  await sql`
    CREATE TABLE webhook_bursts (
      id uuid PRIMARY KEY,
      started_at timestamptz(3) NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`
    CREATE TABLE webhook_log (
      id uuid NOT NULL,
      workspace_id uuid NOT NULL,
      endpoint_id uuid NOT NULL,
      event_id uuid NOT NULL,
      event_created_at timestamptz(3) NOT NULL,
      event_type text NOT NULL,
      status text NOT NULL CHECK (status IN ('succeeded', 'failed')),
      attempts smallint NOT NULL CHECK (attempts BETWEEN 0 AND 6),
      response_status integer,
      error_message text,
      attempt_log jsonb NOT NULL,
      in_run boolean NOT NULL,
      burst_id uuid,
      delivered_at timestamptz(3),
      ended_at timestamptz(3) NOT NULL DEFAULT now(),
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (id, created_at),
      CONSTRAINT webhook_log_outcome_check CHECK (CASE status
        WHEN 'succeeded' THEN delivered_at IS NOT NULL AND error_message IS NULL
        ELSE delivered_at IS NULL AND error_message IS NOT NULL END)
    ) PARTITION BY RANGE (created_at)`.execute(db);
  await sql`CREATE INDEX webhook_log_status_idx ON webhook_log (workspace_id, status, created_at, id)`.execute(
    db,
  );
  await sql`CREATE INDEX webhook_log_endpoint_idx ON webhook_log (endpoint_id, created_at, id)`.execute(db);
  await sql`CREATE TABLE webhook_log_default PARTITION OF webhook_log DEFAULT`.execute(db);
  await sql`ALTER TABLE webhook_endpoints ADD COLUMN deleted_at timestamptz(3)`.execute(db);
  await sql`
    CREATE TABLE event_fanouts (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      changed text[] NOT NULL,
      request_id text,
      article_ids uuid[] STORAGE EXTERNAL NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX event_fanouts_workspace_idx ON event_fanouts (workspace_id, id)`.execute(db);
  await sql`
    CREATE TABLE events (
      id uuid NOT NULL,
      workspace_id uuid NOT NULL,
      type text NOT NULL,
      article_id uuid,
      body bytea NOT NULL,
      request_id text,
      created_at timestamptz(3) NOT NULL,
      CONSTRAINT events_partitioned_pkey PRIMARY KEY (id, created_at)
    ) PARTITION BY RANGE (created_at)`.execute(db);
  await sql`CREATE INDEX events_partitioned_workspace_idx ON events (workspace_id, created_at)`.execute(db);
  await sql`CREATE TABLE events_default PARTITION OF events DEFAULT`.execute(db);
}
