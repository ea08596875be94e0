import { type Kysely, sql } from 'kysely';

/** Deliveries whose first attempt goes through a burst, and an outbox in which fresh ones and retries lie apart. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE webhook_deliveries
      ADD COLUMN burst_id uuid,
      ADD COLUMN begun_at timestamptz(3)`.execute(db);
  // Room on each page for the mark that a first attempt has begun: it then needs no new index entries.
  await sql`ALTER TABLE webhook_deliveries SET (fillfactor = 70)`.execute(db);
  await sql`DROP INDEX webhook_deliveries_outbox_idx, webhook_deliveries_first_attempts_idx`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_outbox_idx ON webhook_deliveries (endpoint_id, seq)
    WHERE outbox AND attempts = 0`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_retries_idx ON webhook_deliveries (endpoint_id, next_attempt_at)
    WHERE outbox AND attempts > 0`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_first_attempts_idx
    ON webhook_deliveries (endpoint_id, handed_over_at) INCLUDE (burst_id)
    WHERE attempts = 0 AND ended_at IS NULL AND NOT outbox`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_burst_idx ON webhook_deliveries (burst_id)
    WHERE burst_id IS NOT NULL AND ended_at IS NULL`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP INDEX webhook_deliveries_burst_idx, webhook_deliveries_first_attempts_idx,
    webhook_deliveries_retries_idx, webhook_deliveries_outbox_idx`.execute(db);
  await sql`CREATE INDEX webhook_deliveries_outbox_idx ON webhook_deliveries (endpoint_id, seq) WHERE outbox`.execute(
    db,
  );
  await sql`CREATE INDEX webhook_deliveries_first_attempts_idx ON webhook_deliveries (endpoint_id, handed_over_at)
    WHERE attempts = 0 AND ended_at IS NULL AND NOT outbox`.execute(db);
  await sql`ALTER TABLE webhook_deliveries RESET (fillfactor)`.execute(db);
  await sql`ALTER TABLE webhook_deliveries DROP COLUMN burst_id, DROP COLUMN begun_at`.execute(db);
}
