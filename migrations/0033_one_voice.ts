import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every step of a translation reads and writes these rows. */
export const online = true;

/** What a model is told beside the texts, frozen on the job; and of each text its kind, its place, and the equal text asked in its stead. */
export async function up(_db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.alter(
    sql`ALTER TABLE translations ADD COLUMN IF NOT EXISTS context jsonb, ADD COLUMN IF NOT EXISTS terms jsonb`,
  );
  await steps.alter(
    sql`ALTER TABLE translation_segments ADD COLUMN IF NOT EXISTS kind text,
      ADD COLUMN IF NOT EXISTS position integer, ADD COLUMN IF NOT EXISTS same_as text`,
  );
}
