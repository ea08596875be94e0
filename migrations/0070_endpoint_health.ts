import { type Kysely, sql } from 'kysely';

/**
 * How endpoints fare: what was delivered last and what has failed since, and their attempts by hour, in buckets of how long
 * they took. Workers sum in memory and write every few seconds, so rows are few and change often. And the
 * indexes of redelivery by range: what has failed, and what was queued later than its event.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE webhook_health (
      endpoint_id uuid PRIMARY KEY REFERENCES webhook_endpoints ON DELETE CASCADE,
      last_success_at timestamptz(3),
      last_failure_at timestamptz(3),
      failing_since timestamptz(3),
      failed integer NOT NULL,
      CONSTRAINT webhook_health_failing_check CHECK ((failed = 0) = (failing_since IS NULL))
    ) WITH (fillfactor = 50)`.execute(db);
  await sql`
    CREATE INDEX webhook_health_failing_idx ON webhook_health (failing_since)
      WHERE failing_since IS NOT NULL`.execute(db);
  await sql`
    CREATE TABLE webhook_hours (
      endpoint_id uuid NOT NULL REFERENCES webhook_endpoints ON DELETE CASCADE,
      hour timestamptz(0) NOT NULL,
      bucket smallint NOT NULL,
      succeeded boolean NOT NULL,
      attempts integer NOT NULL,
      PRIMARY KEY (endpoint_id, hour, bucket, succeeded)
    ) WITH (fillfactor = 50)`.execute(db);
  await sql`CREATE INDEX webhook_hours_hour_idx ON webhook_hours (hour)`.execute(db);
  await sql`
    CREATE INDEX webhook_log_failed_idx ON webhook_log (endpoint_id, created_at, id) WHERE status = 'failed'`.execute(
    db,
  );
  await sql`
    CREATE INDEX webhook_log_again_idx ON webhook_log (endpoint_id, event_id, created_at)
      WHERE created_at > event_created_at`.execute(db);
  await sql`
    CREATE INDEX webhook_open_again_idx ON webhook_open (endpoint_id, event_id)
      WHERE created_at > event_created_at`.execute(db);
}
