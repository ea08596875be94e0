import { sql } from 'kysely';
import { inBatches, type PruneOptions } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import type { JobId } from '../ids.ts';

/** A long article has some tens of sections. */
const JOBS_PER_BATCH = 100;

interface Batch {
  readonly jobs: number;
  /** Null when there was not enough for a full batch. */
  readonly last: JobId | null;
}

async function pruneBatch(db: Database, retentionMs: number, after: JobId | null): Promise<Batch> {
  const { rows } = await sql<Batch>`
    WITH old AS MATERIALIZED (
      SELECT generation.job_id FROM generations AS generation
      JOIN jobs AS job ON job.id = generation.job_id
      WHERE generation.config IS NOT NULL
        AND job.ended_at < now() - make_interval(secs => ${retentionMs / 1_000})
        AND (${after}::uuid IS NULL OR generation.job_id > ${after}::uuid)
      ORDER BY generation.job_id
      LIMIT ${JOBS_PER_BATCH}
      FOR UPDATE OF generation SKIP LOCKED
    ), emptied AS (
      UPDATE generations AS generation
      SET config = NULL, voice = NULL, template = NULL, document = NULL, failure = NULL,
        linkable = NULL
      FROM old WHERE generation.job_id = old.job_id
    ), removed AS (
      -- That they were written stays known.
      UPDATE generation_parts AS part SET content = '{}' FROM old
      WHERE part.job_id = old.job_id AND content IS NOT NULL
    )
    SELECT (SELECT count(*)::integer FROM old) AS jobs,
      (SELECT job_id FROM old ORDER BY job_id OFFSET ${JOBS_PER_BATCH - 1}) AS last
  `.execute(db);
  return rows[0] ?? { jobs: 0, last: null };
}

/**
 * Removes what a generation worked with, its settings, voice, outline and sections, once its job has ended longer ago than
 * the retention. The job itself stays, and what its report counts.
 * @returns how many jobs that were
 */
export async function pruneGenerations(
  db: Database,
  { retentionMs, onProgress }: PruneOptions,
): Promise<number> {
  let jobs = 0;
  for await (const batch of inBatches(null, (after: JobId | null) => pruneBatch(db, retentionMs, after))) {
    jobs += batch.jobs;
    onProgress?.();
  }
  return jobs;
}
