import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Articles and generations are read and written all the time. */
export const online = true;

/** What holds over all attempts of a generation: the calls for each part, the articles it may link to, what was researched. */
export async function up(_db: Kysely<unknown>, { alter, createIndex }: OnlineSteps): Promise<void> {
  await alter(sql`ALTER TABLE generation_parts ADD COLUMN IF NOT EXISTS calls integer NOT NULL DEFAULT 0`);
  await alter(
    sql`ALTER TABLE generations ADD COLUMN IF NOT EXISTS linkable jsonb,
      ADD COLUMN IF NOT EXISTS researched boolean NOT NULL DEFAULT false`,
  );
  await createIndex(
    'articles_published_idx',
    `ON articles (project_id, primary_language, published_at DESC) WHERE status = 'PUBLISHED'`,
  );
  await createIndex('generations_kept_idx', 'ON generations (job_id) WHERE config IS NOT NULL');
}
