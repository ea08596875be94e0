import { type Kysely, sql } from 'kysely';

/**
 * Keys of webhook secrets, each with a value that only it opens, and with each endpoint the key that its secret names:
 * null for one in clear or wiped.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE secret_keys (
      id text PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9_-]{1,32}$'),
      check_value text NOT NULL,
      created_at timestamptz(3) NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`
    ALTER TABLE webhook_endpoints ADD COLUMN secret_key_id text
      GENERATED ALWAYS AS (CASE WHEN secret LIKE 'v1:%' THEN split_part(secret, ':', 2) END) STORED
      REFERENCES secret_keys`.execute(db);
  await sql`CREATE INDEX webhook_endpoints_secret_key_idx ON webhook_endpoints (secret_key_id, id)`.execute(
    db,
  );
}
