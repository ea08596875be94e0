import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every request for a run writes here. */
export const online = true;

const HOLDS = ['translation', 'ai_operation'] as const;

async function allowHolds(steps: OnlineSteps, purposes: readonly string[]): Promise<void> {
  const list = sql.join(purposes.map((purpose) => sql.lit(purpose)));
  await steps.alter(sql`
    ALTER TABLE holds DROP CONSTRAINT IF EXISTS holds_purpose_check,
      ADD CONSTRAINT holds_purpose_check CHECK (purpose IN (${list})) NOT VALID`);
  await steps.alter(sql`ALTER TABLE holds VALIDATE CONSTRAINT holds_purpose_check`);
}

/** What each job is for, beside its kind, and one open refresh of a version at a time. */
export async function up(db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  // The default is what a release inserts that knows translations alone.
  await steps.alter(sql`ALTER TABLE jobs ADD COLUMN IF NOT EXISTS purpose text NOT NULL DEFAULT 'translate'`);
  await sql`UPDATE jobs SET purpose = 'generate' WHERE kind = 'generation' AND purpose = 'translate'`.execute(
    db,
  );
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
  await allowHolds(steps, [...HOLDS, 'refresh', 'generate', 'outline']);
}

export async function down(_db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await allowHolds(steps, HOLDS);
  await steps.createIndex('jobs_article_idx', 'ON jobs (article_id, created_at DESC)');
  await steps.dropIndex('jobs_of_article_idx');
  await steps.dropIndex('jobs_refresh_key');
  await steps.alter(sql`ALTER TABLE jobs DROP COLUMN IF EXISTS purpose`);
}
