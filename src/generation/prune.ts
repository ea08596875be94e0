import type { PruneOptions } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import { pruneJobs } from '../jobs/prune.ts';

/** A long article has some tens of sections. */
const JOBS_AT_ONCE = 100;

/**
 * Removes what a generation worked with, its settings, voice, outline and sections, once its job has ended longer ago than
 * the retention. The job itself stays, and what its report counts.
 * @returns how many jobs that were
 */
export const pruneGenerations = (db: Database, options: PruneOptions): Promise<number> =>
  pruneJobs(
    db,
    {
      table: 'generations',
      mark: 'config',
      atOnce: JOBS_AT_ONCE,
      async empty(tx, jobIds) {
        const nothing = {
          config: null,
          voice: null,
          template: null,
          document: null,
          failure: null,
          linkable: null,
        };
        await tx.updateTable('generations').set(nothing).where('job_id', 'in', jobIds).execute();
        // That they were written stays known.
        await tx
          .updateTable('generation_parts')
          .set({ content: '{}' })
          .where('job_id', 'in', jobIds)
          .where('content', 'is not', null)
          .execute();
      },
    },
    options,
  );
