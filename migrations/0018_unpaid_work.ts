import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every batch of a translation writes segments. */
export const online = true;

/** Words made for runs that were cancelled, for a day; how many words each segment has. */
export async function up(db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.alter(sql`ALTER TABLE translation_segments ADD COLUMN IF NOT EXISTS words integer`);
  await sql`
    CREATE TABLE IF NOT EXISTS unpaid_work (
      job_id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      words integer NOT NULL CHECK (words > 0),
      created_at timestamptz(3) NOT NULL DEFAULT now()
    )`.execute(db);
  await steps.createIndex('unpaid_work_workspace_idx', 'ON unpaid_work (workspace_id, created_at)');
}
