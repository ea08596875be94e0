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
      ADD COLUMN header_names text[] NOT NULL DEFAULT '{}'`.execute(db);
  await sql`
    CREATE INDEX webhook_endpoints_rotation_idx ON webhook_endpoints (rotation_ends_at)
      WHERE rotation_ends_at IS NOT NULL`.execute(db);
}
