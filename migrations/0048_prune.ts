import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every write adds an audit entry. */
export const online = true;

/** Audit entries are found by their age, and prune remembers when it believed to run last. */
export async function up(_: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.createIndex('audit_entries_age_idx', 'ON audit_entries (created_at)');
  await steps.alter(sql`
    CREATE TABLE IF NOT EXISTS prune_clock (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      believed timestamptz(3) NOT NULL,
      run_id text NOT NULL
    )`);
}
