import { type PruneOptions, removeOlder } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import { pruneJobs } from '../jobs/prune.ts';
import { keepReport, reportOf, withoutWords } from './report/report.ts';

/** A job of a long article has thousands of segments. */
const JOBS_AT_ONCE = 20;
const PROPOSALS_AT_ONCE = 1_000;
const MEMORY_ENTRIES_AT_ONCE = 2_000;

/**
 * Removes snapshots and segments of jobs that ended before the retention, and proposals of that age. The jobs stay, and
 * their reports without quoted texts.
 * @returns removed jobs and segments
 */
export async function pruneTranslations(
  db: Database,
  options: PruneOptions,
): Promise<{ jobs: number; segments: number }> {
  const { retentionMs: ageMs, onProgress } = options;
  // Still undecided: the next refresh makes them again.
  await removeOlder(db, ['proposals', 'created_at'], { ageMs, limit: PROPOSALS_AT_ONCE }, onProgress);
  let segments = 0;
  const jobs = await pruneJobs(
    db,
    {
      table: 'translations',
      mark: 'snapshot',
      atOnce: JOBS_AT_ONCE,
      async empty(tx, jobIds) {
        for (const id of jobIds) await keepReport(tx, id, withoutWords(await reportOf(tx, id)));
        await tx
          .updateTable('translations')
          .set({ snapshot: null, context: null, sheet: null })
          .where('job_id', 'in', jobIds)
          .execute();
        const removed = await tx
          .deleteFrom('translation_segments')
          .where('job_id', 'in', jobIds)
          .executeTakeFirstOrThrow();
        segments += Number(removed.numDeletedRows);
      },
    },
    options,
  );
  return { jobs, segments };
}

/** Removes memory entries unused for this long. @returns removed entries */
export const pruneMemory = (db: Database, unusedMs: number, onProgress?: () => void): Promise<number> =>
  removeOlder(
    db,
    ['translation_memory', 'used_at'],
    { ageMs: unusedMs, limit: MEMORY_ENTRIES_AT_ONCE },
    onProgress,
  );
