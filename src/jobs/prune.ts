import { sql } from 'kysely';
import { inBatches, type PruneOptions } from '../db/batches.ts';
import type { Database, Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import type { JobId } from '../ids.ts';

/** Working data that an area keeps for its jobs. */
interface Kept {
  readonly table: 'generations' | 'generation_images' | 'translations';
  /** A column of it that is null once a job was pruned. */
  readonly mark: 'config' | 'prompt' | 'snapshot';
  /** Jobs per transaction. */
  readonly atOnce: number;
  /** Removes the working data of the jobs, the mark included. */
  readonly empty: (tx: Tx, jobIds: readonly JobId[]) => Promise<void>;
}

/**
 * Removes the working data of jobs that ended before the retention; their rows stay. Skips rows locked by another
 * pruner.
 * @returns how many jobs
 */
export async function pruneJobs(
  db: Database,
  { table, mark, atOnce, empty }: Kept,
  { retentionMs, onProgress }: PruneOptions,
): Promise<number> {
  const next = (after: JobId | null) =>
    inTransaction(db, async (tx) => {
      const { rows } = await sql<{ id: JobId }>`
        SELECT kept.job_id AS id FROM ${sql.table(table)} AS kept JOIN jobs AS job ON job.id = kept.job_id
        WHERE ${sql.ref(`kept.${mark}`)} IS NOT NULL
          AND job.ended_at < now() - make_interval(secs => ${retentionMs / 1_000})
          AND (${after}::uuid IS NULL OR kept.job_id > ${after}::uuid)
        ORDER BY kept.job_id
        LIMIT ${atOnce}
        FOR UPDATE OF kept SKIP LOCKED
      `.execute(tx);
      const ids = rows.map(({ id }) => id);
      if (ids.length > 0) await empty(tx, ids);
      return { pruned: ids.length, last: ids[atOnce - 1] ?? null };
    });
  let jobs = 0;
  for await (const { pruned } of inBatches(null, next)) {
    jobs += pruned;
    onProgress?.();
  }
  return jobs;
}
