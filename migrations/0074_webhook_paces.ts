import { type Kysely, sql } from 'kysely';

/**
 * The pace of endpoints that ask for one: a receiver that has responded with 429, or an integrator who has set a rate. One
 * row that the claims of all workers spend from; without a row nothing is limited. A rate set before counts from now on.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE webhook_paces (
      endpoint_id uuid PRIMARY KEY REFERENCES webhook_endpoints ON DELETE CASCADE,
      max_rate smallint CHECK (max_rate BETWEEN 1 AND 1000),
      epoch integer NOT NULL DEFAULT 1,
      rate float8 NOT NULL CHECK (rate > 0),
      next_at timestamptz NOT NULL DEFAULT now(),
      refused_at timestamptz NOT NULL DEFAULT '-infinity',
      resumed_at timestamptz NOT NULL DEFAULT '-infinity',
      searching boolean NOT NULL DEFAULT false,
      ceiling float8 NOT NULL DEFAULT 'infinity',
      back_off_seconds smallint NOT NULL DEFAULT 1,
      taken float8 NOT NULL DEFAULT 0,
      taken_from timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0)`.execute(
    db,
  );
  await sql`
    INSERT INTO webhook_paces (endpoint_id, max_rate, rate)
    SELECT id, rate_limit, rate_limit FROM webhook_endpoints
    WHERE rate_limit IS NOT NULL AND deleted_at IS NULL`.execute(db);
}
