import { type Kysely, sql } from 'kysely';

/**
 * Endpoints that are behind: their deliveries are queued from the event log. An event names those for which nothing was
 * queued when it was stored, so each event is queued once, by its own statement or from the log. And what was passed over,
 * because it had become too old, or its endpoint was disabled.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE events ADD COLUMN behind uuid[]`.execute(db);
  await sql`
    CREATE TABLE webhook_backlogs (
      endpoint_id uuid PRIMARY KEY REFERENCES webhook_endpoints ON DELETE CASCADE,
      behind_from bigint NOT NULL,
      instant timestamptz(3) NOT NULL,
      closing boolean NOT NULL DEFAULT false,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    ) WITH (fillfactor = 50)`.execute(db);
  await sql`
    CREATE TABLE webhook_missed (
      endpoint_id uuid PRIMARY KEY REFERENCES webhook_endpoints ON DELETE CASCADE,
      first_number bigint NOT NULL,
      last_number bigint NOT NULL,
      from_at timestamptz(3) NOT NULL,
      to_at timestamptz(3) NOT NULL,
      CONSTRAINT webhook_missed_range_check CHECK (first_number <= last_number AND from_at <= to_at)
    )`.execute(db);
}
