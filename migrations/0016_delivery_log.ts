import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';
import { createDeliveries, createEvents } from './0005_webhooks.ts';
import { up as addBursts } from './0008_bursts.ts';

/** What has ended moves in batches, and each of them commits. */
export const online = true;

/** Blocks of a table that one batch moves: 2 MiB, and whatever of their rows is stored apart. */
const BLOCKS = 256;
const NOTE_EVERY_MS = 5_000;
const UNKNOWN_OUTCOME = 'The attempt was interrupted and its outcome is unknown.';

/**
 * Deliveries that have not ended in a table of their own; those that have, and events, in partitions of a day.
 * Processes of 0.1 can't go on beside it. What is open moves in one transaction; what has ended follows in batches,
 * and a migration that is cut off between two goes on there.
 */
export async function up(db: Kysely<unknown>, { note, transaction }: OnlineSteps): Promise<void> {
  await transaction(async (tx) => {
    if (await exists(tx, 'webhook_open')) return;
    await refuseBeside(tx, '', '0.1');
    await sql`ALTER TABLE webhook_attempts DROP CONSTRAINT webhook_attempts_delivery_id_fkey`.execute(tx);
    await sql`ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_event_fkey,
      DROP CONSTRAINT webhook_deliveries_endpoint_fkey`.execute(tx);
    for (const table of ['events', 'webhook_deliveries', 'webhook_attempts']) {
      // Under its name a process of 0.1 that is started meanwhile would write what nobody moves.
      await sql`ALTER TABLE ${sql.id(table)} RENAME TO ${sql.id(`${table}_0_1`)}`.execute(tx);
    }
    await createTables(tx);
    await moveOpen(tx);
  });
  if (!(await exists(db, 'events_0_1'))) return;
  await makePartitions(db);
  await inBatches(db, note, 'webhook_deliveries_0_1', (batch) => moveEnded(db, batch));
  await inBatches(db, note, 'events_0_1', (batch) => moveEvents(db, batch));
  await sql`ANALYZE webhook_open, webhook_log, events`.execute(db);
  await sql`DROP TABLE webhook_attempts_0_1, webhook_deliveries_0_1, events_0_1`.execute(db);
}

/** All goes back, in one transaction: a delivery in a run stays in it, any other open one is in the outbox then. */
export async function down(db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.transaction(async (tx) => {
    if (!(await exists(tx, 'webhook_open'))) return;
    await refuseBeside(tx, ' 0\\.2', '0.2');
    const { rows } = await sql`SELECT FROM event_fanouts LIMIT 1`.execute(tx);
    if (rows.length > 0) {
      throw new Error(
        'Events of a changed category are still being written: let a worker of 0.2 run until event_fanouts is empty.',
      );
    }
    await sql`ALTER TABLE events RENAME TO events_0_2`.execute(tx);
    await createEvents(tx);
    await createDeliveries(tx);
    await sql`DELETE FROM webhook_open USING webhook_endpoints AS endpoint
      WHERE endpoint.id = endpoint_id AND endpoint.deleted_at IS NOT NULL`.execute(tx);
    await sql`DELETE FROM webhook_endpoints WHERE deleted_at IS NOT NULL`.execute(tx);
    await moveBack(tx);
    await sql`DROP TABLE event_fanouts, webhook_bursts, webhook_log, webhook_open, events_0_2`.execute(tx);
    await sql`ALTER TABLE webhook_endpoints DROP COLUMN deleted_at`.execute(tx);
  });
  await addBursts(db, steps);
}

async function exists(db: Kysely<unknown>, table: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`SELECT to_regclass(${table}) IS NOT NULL AS found`.execute(
    db,
  );
  return rows[0]?.found === true;
}

/** @throws Error that names the processes of a release that are connected to this database */
async function refuseBeside(db: Kysely<unknown>, mark: string, release: string): Promise<void> {
  const pattern = `^workspace-content-service${mark} (server|worker|relay|metrics|readiness|local)$`;
  const { rows } = await sql<{ name: string; pids: string }>`
    SELECT substring(application_name FROM '\\w+$') AS name, string_agg(pid::text, ', ' ORDER BY pid) AS pids
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name ~ ${pattern}
    GROUP BY 1 ORDER BY 1`.execute(db);
  if (rows.length === 0) return;
  const found = rows.map(({ name, pids }) => `${name} (Postgres process ${pids})`).join(', ');
  throw new Error(
    `Processes of release ${release} are connected to this database, which can't go on beside this migration: ${found}. ` +
      `Stop every server and worker of ${release}, then migrate again. Have a pooler close the connections it keeps.`,
  );
}

async function createTables(db: Kysely<unknown>): Promise<void> {
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

/** The attempts of `moved`, a row of the deliveries of 0.1, as its owner reads them. */
const attemptLog = sql`coalesce((
  SELECT jsonb_agg(jsonb_build_object('number', number,
    'startedAt', to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'durationMs', duration_ms,
    'responseStatus', attempt.response_status, 'errorMessage', attempt.error_message,
    'responseBody', response_body) ORDER BY number)
  FROM webhook_attempts_0_1 AS attempt WHERE attempt.delivery_id = moved.id), '[]')`;

/**
 * What was once leased to a start may have a run, so it is left to the run. A burst of 0.1 has lost what it held: a
 * first attempt that had begun is spent.
 */
async function moveOpen(db: Kysely<unknown>): Promise<void> {
  await sql`
    WITH moved AS (
      DELETE FROM webhook_deliveries_0_1 WHERE ended_at IS NULL
      RETURNING *, NOT outbox AND burst_id IS NOT NULL AND begun_at IS NOT NULL AS lost,
        CASE WHEN outbox THEN claimed_until IS NOT NULL ELSE burst_id IS NULL END AS in_run
    )
    INSERT INTO webhook_open (id, workspace_id, endpoint_id, event_id, event_created_at, event_type, status, attempts,
      response_status, error_message, attempt_log, due_at, in_run, begun, created_at)
    SELECT moved.id, moved.workspace_id, endpoint_id, event_id, event.created_at, event_type,
      CASE WHEN lost THEN 'failed' ELSE status END, CASE WHEN lost THEN 1 ELSE attempts END,
      response_status, CASE WHEN lost THEN ${UNKNOWN_OUTCOME} ELSE error_message END, ${attemptLog},
      CASE WHEN lost THEN now() + interval '30 seconds' ELSE coalesce(next_attempt_at, moved.created_at) END,
      in_run, CASE WHEN lost THEN 1 ELSE attempts END, moved.created_at
    FROM moved JOIN events_0_1 AS event ON event.id = moved.event_id`.execute(db);
}

/** For each day that has rows, one of both tables. */
async function makePartitions(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ day: string; next: string }>`
    SELECT DISTINCT to_char(day, 'YYYY-MM-DD') AS day, to_char(day + interval '1 day', 'YYYY-MM-DD') AS next FROM (
      SELECT date_trunc('day', created_at AT TIME ZONE 'UTC') AS day FROM events_0_1
      UNION SELECT date_trunc('day', created_at AT TIME ZONE 'UTC') FROM webhook_deliveries_0_1
      UNION SELECT date_trunc('day', created_at AT TIME ZONE 'UTC') FROM webhook_open
    ) AS days`.execute(db);
  for (const { day, next } of rows) {
    for (const table of ['events', 'webhook_log']) {
      await sql`
        CREATE TABLE IF NOT EXISTS ${sql.id(`${table}_${day.replaceAll('-', '')}`)} PARTITION OF ${sql.id(table)}
        FOR VALUES FROM (${sql.lit(`${day}T00:00:00Z`)}) TO (${sql.lit(`${next}T00:00:00Z`)})`.execute(db);
    }
  }
}

type Batch = ReturnType<typeof blocks>;
const blocks = (from: number) =>
  sql`ctid >= ${sql.lit(`(${from},0)`)}::tid AND ctid < ${sql.lit(`(${from + BLOCKS},0)`)}::tid`;

/** Runs `move` on one stretch of a table after the other, as it lies on disk; nobody else writes to it. */
async function inBatches(
  db: Kysely<unknown>,
  note: OnlineSteps['note'],
  table: string,
  move: (batch: Batch) => Promise<bigint>,
): Promise<void> {
  const { rows } = await sql<{ blocks: number }>`
    SELECT (pg_relation_size(${table}::regclass) / current_setting('block_size')::integer)::integer AS blocks`.execute(
    db,
  );
  const end = rows[0]?.blocks ?? 0;
  let moved = 0n;
  let noted = 0;
  for (let from = 0; from < end; from += BLOCKS) {
    moved += await move(blocks(from));
    if (moved === 0n || Date.now() - noted < NOTE_EVERY_MS) continue;
    noted = Date.now();
    const part = Math.min(100, Math.floor((100 * (from + BLOCKS)) / end));
    note(`0016_delivery_log: ${moved} rows of ${table} moved, ${part} % of it`);
  }
}

/** Each event is looked up: a join might read all of them for every batch. */
async function moveEnded(db: Kysely<unknown>, batch: Batch): Promise<bigint> {
  const { numAffectedRows = 0n } = await sql`
    WITH moved AS (DELETE FROM webhook_deliveries_0_1 WHERE ${batch} RETURNING *)
    INSERT INTO webhook_log (id, workspace_id, endpoint_id, event_id, event_created_at, event_type, status, attempts,
      response_status, error_message, attempt_log, in_run, burst_id, delivered_at, ended_at, created_at)
    SELECT id, workspace_id, endpoint_id, event_id,
      (SELECT event.created_at FROM events_0_1 AS event WHERE event.id = moved.event_id), event_type, status, attempts,
      response_status, error_message, ${attemptLog}, burst_id IS NULL, burst_id, delivered_at, ended_at, created_at
    FROM moved`.execute(db);
  return numAffectedRows;
}

async function moveEvents(db: Kysely<unknown>, batch: Batch): Promise<bigint> {
  const { numAffectedRows = 0n } = await sql`
    WITH moved AS (DELETE FROM events_0_1 WHERE ${batch} RETURNING *)
    INSERT INTO events (id, workspace_id, type, article_id, body, request_id, created_at)
    SELECT id, workspace_id, type, article_id, body, request_id, created_at FROM moved`.execute(db);
  return numAffectedRows;
}

/** What a burst had begun is spent. Ended rows whose event or endpoint is gone stay behind: 0.1 has no place for them. */
async function moveBack(db: Kysely<unknown>): Promise<void> {
  await sql`
    INSERT INTO events (id, workspace_id, type, article_id, body, request_id, created_at)
    SELECT event.id, workspace_id, type, article_id, body, request_id, event.created_at
    FROM events_0_2 AS event JOIN workspaces ON workspaces.id = workspace_id`.execute(db);
  await sql`
    INSERT INTO webhook_deliveries (id, workspace_id, endpoint_id, event_id, event_type, status, attempts,
      response_status, error_message, delivered_at, next_attempt_at, ended_at, outbox, created_at)
    SELECT log.id, log.workspace_id, endpoint_id, event_id, event_type, status, attempts, response_status,
      error_message, delivered_at, NULL, ended_at, false, log.created_at
    FROM webhook_log AS log JOIN events AS event ON event.id = event_id
    JOIN webhook_endpoints AS endpoint ON endpoint.id = endpoint_id ORDER BY log.created_at, log.id`.execute(
    db,
  );
  await sql`
    INSERT INTO webhook_deliveries (id, workspace_id, endpoint_id, event_id, event_type, status, attempts,
      response_status, error_message, next_attempt_at, ended_at, outbox, handed_over_at, created_at)
    SELECT id, workspace_id, endpoint_id, event_id, event_type,
      CASE WHEN lost THEN 'failed' ELSE status END, CASE WHEN lost THEN begun ELSE attempts END, response_status,
      CASE WHEN lost THEN ${UNKNOWN_OUTCOME} ELSE error_message END,
      CASE WHEN NOT lost THEN due_at WHEN begun < 6 THEN now() + least(30 * 2 ^ (begun - 1), 480) * interval '1 second' END,
      CASE WHEN lost AND begun = 6 THEN now() END, NOT in_run AND NOT (lost AND begun = 6),
      CASE WHEN in_run THEN now() END, created_at
    FROM (SELECT *, burst_id IS NOT NULL AND begun > attempts AS lost FROM webhook_open) AS open
    ORDER BY created_at, id`.execute(db);
  await sql`
    INSERT INTO webhook_attempts (delivery_id, number, started_at, duration_ms, response_status, error_message,
      response_body)
    SELECT delivery.id, number, "startedAt", "durationMs", "responseStatus", "errorMessage", "responseBody"
    FROM (SELECT id, attempt_log FROM webhook_log UNION ALL SELECT id, attempt_log FROM webhook_open) AS log
    JOIN webhook_deliveries AS delivery ON delivery.id = log.id
    CROSS JOIN LATERAL jsonb_to_recordset(attempt_log) AS attempt (number integer, "startedAt" timestamptz,
      "durationMs" integer, "responseStatus" integer, "errorMessage" text, "responseBody" text)`.execute(db);
}
