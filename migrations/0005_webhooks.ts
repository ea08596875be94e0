import { type Kysely, sql } from 'kysely';

/** Events as 0.1 kept them: {@link up} makes them, and whatever goes back to it. */
export async function createEvents(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE events (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      type text NOT NULL,
      article_id uuid,
      body bytea NOT NULL,
      request_id text,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT events_tenant_key UNIQUE (workspace_id, id)
    )`.execute(db);
  await sql`CREATE INDEX events_workspace_idx ON events (workspace_id, created_at)`.execute(db);
  await sql`CREATE INDEX events_created_idx ON events (created_at)`.execute(db);
}

/** Endpoints, the events that they subscribe to, and deliveries, which are the outbox as well. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createEvents(db);
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
  await createDeliveries(db);
}

/** Deliveries and their attempts as 0.1 kept them, which the like goes for. */
export async function createDeliveries(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE webhook_deliveries (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      endpoint_id uuid NOT NULL,
      event_id uuid NOT NULL,
      event_type text NOT NULL,
      status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'succeeded', 'failed')),
      attempts integer NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 6),
      response_status integer,
      error_message text,
      delivered_at timestamptz(3),
      next_attempt_at timestamptz(3),
      ended_at timestamptz(3),
      outbox boolean NOT NULL DEFAULT true,
      claimed_until timestamptz(3),
      start_failures integer NOT NULL DEFAULT 0,
      start_not_before timestamptz(3),
      handed_over_at timestamptz(3),
      seq bigint GENERATED ALWAYS AS IDENTITY,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT webhook_deliveries_event_fkey FOREIGN KEY (workspace_id, event_id)
        REFERENCES events (workspace_id, id) ON DELETE CASCADE,
      CONSTRAINT webhook_deliveries_endpoint_fkey FOREIGN KEY (workspace_id, endpoint_id)
        REFERENCES webhook_endpoints (workspace_id, id) ON DELETE CASCADE,
      CONSTRAINT webhook_deliveries_outcome_check CHECK (CASE status
        WHEN 'succeeded' THEN delivered_at IS NOT NULL AND ended_at IS NOT NULL AND error_message IS NULL
        WHEN 'pending' THEN attempts = 0 AND delivered_at IS NULL AND ended_at IS NULL
        ELSE delivered_at IS NULL AND error_message IS NOT NULL END)
    )`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_outbox_idx ON webhook_deliveries (endpoint_id, seq) WHERE outbox`.execute(
    db,
  );
  await sql`CREATE INDEX webhook_deliveries_claimed_idx ON webhook_deliveries (endpoint_id, claimed_until)
    WHERE outbox AND claimed_until IS NOT NULL`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_recent_idx ON webhook_deliveries (workspace_id, created_at DESC, seq DESC)`.execute(
    db,
  );
  await sql`CREATE INDEX webhook_deliveries_status_idx
    ON webhook_deliveries (workspace_id, status, created_at DESC, seq DESC)`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_endpoint_idx ON webhook_deliveries (endpoint_id, seq)`.execute(
    db,
  );
  await sql`CREATE INDEX webhook_deliveries_event_idx ON webhook_deliveries (event_id)`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_open_idx ON webhook_deliveries (next_attempt_at)
    WHERE ended_at IS NULL AND NOT outbox`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_first_attempts_idx ON webhook_deliveries (endpoint_id, handed_over_at)
    WHERE attempts = 0 AND ended_at IS NULL AND NOT outbox`.execute(db);
  await sql`
    CREATE TABLE webhook_attempts (
      delivery_id uuid NOT NULL REFERENCES webhook_deliveries ON DELETE CASCADE,
      number integer NOT NULL CHECK (number BETWEEN 1 AND 6),
      started_at timestamptz(3) NOT NULL,
      duration_ms integer NOT NULL CHECK (duration_ms >= 0),
      response_status integer,
      error_message text,
      response_body text,
      PRIMARY KEY (delivery_id, number)
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE webhook_attempts, webhook_deliveries, webhook_endpoints, events`.execute(db);
}
