import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every step of a translation reads and writes these rows. */
export const online = true;

/** What became of each text of a job, and the report of it that stays when its texts have gone. */
export async function up(_db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.alter(sql`ALTER TABLE translations ADD COLUMN IF NOT EXISTS report jsonb`);
  await steps.alter(
    sql`ALTER TABLE translation_segments ADD COLUMN IF NOT EXISTS outcome text,
      ADD COLUMN IF NOT EXISTS defects jsonb`,
  );
}
