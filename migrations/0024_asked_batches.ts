import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every step of a translation reads its row. */
export const online = true;

/** The batches that an engine was asked for: a cancelled run is counted with those it was making. */
export async function up(_db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.alter(
    sql`ALTER TABLE translations ADD COLUMN IF NOT EXISTS asked_batches integer[] NOT NULL DEFAULT '{}'`,
  );
}
