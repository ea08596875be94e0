import { type Kysely, sql } from 'kysely';

/**
 * What an integrator sets on a webhook endpoint: a pause, a rate, custom headers, and a rotation of its secret. The headers'
 * values and the next secret are in `secret`, encrypted with it; the columns say what lists show and statements ask.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE webhook_endpoints
      ADD COLUMN rotation_ends_at timestamptz(3),
      ADD COLUMN paused_at timestamptz(3),
      ADD COLUMN rate_limit smallint CHECK (rate_limit BETWEEN 1 AND 1000),
      ADD COLUMN header_names text[] NOT NULL DEFAULT '{}',
      ADD COLUMN disabled_for text CHECK (disabled_for IN ('operator', 'failing')),
      ADD CONSTRAINT webhook_endpoints_disabled_check CHECK (NOT active OR disabled_for IS NULL),
      ADD CONSTRAINT webhook_endpoints_paused_check CHECK (active OR paused_at IS NULL)`.execute(db);
  await sql`UPDATE webhook_endpoints SET disabled_for = 'operator' WHERE NOT active`.execute(db);
  await sql`
    CREATE INDEX webhook_endpoints_rotation_idx ON webhook_endpoints (rotation_ends_at)
      WHERE rotation_ends_at IS NOT NULL`.execute(db);
}
