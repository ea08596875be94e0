import { type Kysely, sql } from 'kysely';

/**
 * The log of a workspace's events, to be read from any number on. An event's transaction leaves a row in the queue, and
 * sequencers number what was committed. The log begins with this release: events that servers of the release before store,
 * also while they still run, are not in it.
 *
 * A queue's row has its id under the lock of its article: of two changes of one article the later one has the larger id,
 * also after a crash, a promotion or a restore, since a sequence never goes back.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE event_queue (
      workspace_id uuid NOT NULL,
      id bigint GENERATED ALWAYS AS IDENTITY (CACHE 1),
      event_id uuid NOT NULL,
      event_created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (workspace_id, id)
    ) WITH (
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_threshold = 500,
      autovacuum_vacuum_cost_delay = 0
    )`.execute(db);
  await sql`
    CREATE TABLE event_counters (
      workspace_id uuid PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
      number bigint NOT NULL DEFAULT 0,
      event_id uuid,
      instant timestamptz(3),
      CONSTRAINT event_counters_last_check CHECK (
        (number = 0) = (event_id IS NULL) AND (number = 0) = (instant IS NULL))
    ) WITH (fillfactor = 50)`.execute(db);
  await sql`
    CREATE TABLE event_log (
      workspace_id uuid NOT NULL,
      number bigint NOT NULL,
      event_id uuid NOT NULL,
      event_created_at timestamptz(3) NOT NULL,
      instant timestamptz(3) NOT NULL,
      PRIMARY KEY (workspace_id, number, instant)
    ) PARTITION BY RANGE (instant)`.execute(db);
  // Whether the log still names an event of a partition that is to be dropped.
  await sql`CREATE INDEX event_log_created_idx ON event_log USING brin (event_created_at)`.execute(db);
  await sql`CREATE TABLE event_log_default PARTITION OF event_log DEFAULT`.execute(db);
}
