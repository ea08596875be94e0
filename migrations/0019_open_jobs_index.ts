import type { Kysely } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

export const online = true;

/** A run asks, before it begins, how many others of its workspace are open, and ahead of it. */
export async function up(_db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.createIndex(
    'jobs_workspace_open_idx',
    'ON jobs (workspace_id, created_at, id) WHERE ended_at IS NULL',
  );
}
