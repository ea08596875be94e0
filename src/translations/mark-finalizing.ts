import type { Database } from '../db/database.ts';
import type { JobId } from '../ids.ts';

/** Moves a translating job to the step `finalize`, at 95 % progress. */
export async function markFinalizing(db: Database, jobId: JobId): Promise<void> {
  await db
    .updateTable('jobs')
    .set((eb) => ({
      current_step: 'finalize',
      progress: eb.fn<number>('greatest', ['progress', eb.val(95)]),
    }))
    .where('id', '=', jobId)
    .where('status', '=', 'TRANSLATING')
    .execute();
}
