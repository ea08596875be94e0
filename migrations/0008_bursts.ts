import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** The largest table of all is read and written while its indexes are built. */
export const online = true;

/** Deliveries whose first attempt goes through a burst, and an outbox in which fresh ones and retries lie apart. */
export async function up(_db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.alter(sql`
    ALTER TABLE webhook_deliveries
      ADD COLUMN IF NOT EXISTS burst_id uuid,
      ADD COLUMN IF NOT EXISTS begun_at timestamptz(3)`);
  // Room on each page for the mark that a first attempt has begun: it then needs no new index entries.
  await steps.alter(sql`ALTER TABLE webhook_deliveries SET (fillfactor = 70)`);
  await steps.createIndex(
    'webhook_deliveries_retries_idx',
    'ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE outbox AND attempts > 0',
  );
  await steps.replaceIndex(
    'webhook_deliveries_outbox_idx',
    'ON webhook_deliveries (endpoint_id, seq) WHERE outbox AND attempts = 0',
  );
  await steps.replaceIndex(
    'webhook_deliveries_first_attempts_idx',
    `ON webhook_deliveries (endpoint_id, handed_over_at) INCLUDE (burst_id)
     WHERE attempts = 0 AND ended_at IS NULL AND NOT outbox`,
  );
  await steps.createIndex(
    'webhook_deliveries_burst_idx',
    'ON webhook_deliveries (burst_id) WHERE burst_id IS NOT NULL AND ended_at IS NULL',
  );
}

export async function down(_db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.replaceIndex(
    'webhook_deliveries_outbox_idx',
    'ON webhook_deliveries (endpoint_id, seq) WHERE outbox',
  );
  await steps.replaceIndex(
    'webhook_deliveries_first_attempts_idx',
    `ON webhook_deliveries (endpoint_id, handed_over_at)
     WHERE attempts = 0 AND ended_at IS NULL AND NOT outbox`,
  );
  await steps.dropIndex('webhook_deliveries_burst_idx');
  await steps.dropIndex('webhook_deliveries_retries_idx');
  await steps.alter(sql`ALTER TABLE webhook_deliveries RESET (fillfactor)`);
  await steps.alter(sql`
    ALTER TABLE webhook_deliveries DROP COLUMN IF EXISTS burst_id, DROP COLUMN IF EXISTS begun_at`);
}
