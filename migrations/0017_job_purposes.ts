import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every request for a run writes here. */
export const online = true;

/** What each job is for, beside its kind, and one open refresh of a version at a time. */
export async function up(_db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.alter(sql`ALTER TABLE jobs ADD COLUMN IF NOT EXISTS purpose text NOT NULL DEFAULT 'translate'`);
  await steps.alter(sql`
    ALTER TABLE jobs DROP CONSTRAINT IF EXISTS jobs_purpose_check,
      ADD CONSTRAINT jobs_purpose_check CHECK (
        (kind = 'translation' AND purpose IN ('translate', 'refresh'))
        OR (kind = 'generation' AND purpose IN ('generate', 'outline'))) NOT VALID`);
  await steps.alter(sql`ALTER TABLE jobs VALIDATE CONSTRAINT jobs_purpose_check`);
  await steps.createIndex(
    'jobs_refresh_key',
    "ON jobs (article_id) WHERE purpose = 'refresh' AND ended_at IS NULL",
    'UNIQUE',
  );
  await steps.createIndex('jobs_of_article_idx', 'ON jobs (article_id, created_at DESC, id DESC)');
  await steps.dropIndex('jobs_article_idx');
  await steps.alter(sql`
    ALTER TABLE holds DROP CONSTRAINT IF EXISTS holds_purpose_check,
      ADD CONSTRAINT holds_purpose_check
        CHECK (purpose IN ('translation', 'ai_operation', 'refresh', 'generate', 'outline')) NOT VALID`);
  await steps.alter(sql`ALTER TABLE holds VALIDATE CONSTRAINT holds_purpose_check`);
}
