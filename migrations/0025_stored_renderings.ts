import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every request about an article reads its row. */
export const online = true;

/** The renderer that an article's rendering is of, where its body shows nothing that others can change. */
export async function up(_db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.alter(sql`ALTER TABLE articles ADD COLUMN IF NOT EXISTS rendered_by smallint`);
}
