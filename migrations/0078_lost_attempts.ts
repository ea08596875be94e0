import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

export const online = true;

/**
 * Attempts that were lost with their worker: how often, how often as the only suspect, when the last time, and whether the
 * delivery waits until it may be tried again. The defaults write no row, and the index is empty but after a loss.
 */
export async function up(_db: Kysely<unknown>, { alter, createIndex }: OnlineSteps): Promise<void> {
  await alter(sql`
    ALTER TABLE webhook_open
      ADD COLUMN IF NOT EXISTS losses smallint NOT NULL DEFAULT 0,
      ADD COLUMN IF NOT EXISTS losses_alone smallint NOT NULL DEFAULT 0,
      ADD COLUMN IF NOT EXISTS lost_at timestamptz(3),
      ADD COLUMN IF NOT EXISTS parked boolean NOT NULL DEFAULT false`);
  await createIndex('webhook_open_losses_idx', 'ON webhook_open (due_at) WHERE losses > 0');
}
