import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every save reads and writes links. */
export const online = true;

/** The article that a link led to when that was last reported: two articles can have one address. */
export async function up(db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.alter(sql`ALTER TABLE article_links ADD COLUMN IF NOT EXISTS leads_to uuid`);
  await sql`UPDATE article_links SET leads_to = target_id WHERE address IS NOT NULL AND leads_to IS NULL`.execute(
    db,
  );
}
