import { sql } from 'kysely';
import { inBatches, type PruneOptions, removeInBatches } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import type { JobId } from '../ids.ts';
import { keepReport, reportOf, withoutWords } from './report/report.ts';

/** A job of a long article has some thousand segments, so a batch holds few jobs. */
const JOBS_PER_BATCH = 20;

/** Proposals that one statement removes. */
const PROPOSALS = 1_000;

interface Batch {
  readonly jobs: number;
  readonly segments: number;
  /** Null when there was not enough for a full batch. */
  readonly last: JobId | null;
}

const NOTHING: Batch = { jobs: 0, segments: 0, last: null };

async function pruneBatch(db: Database, retentionMs: number, after: JobId | null): Promise<Batch> {
  const ended = await sql<{ id: JobId }>`
    SELECT translation.job_id AS id FROM translations AS translation
    JOIN jobs AS job ON job.id = translation.job_id
    WHERE translation.snapshot IS NOT NULL
      AND job.ended_at < now() - make_interval(secs => ${retentionMs / 1_000})
      AND (${after}::uuid IS NULL OR translation.job_id > ${after}::uuid)
    ORDER BY translation.job_id
    LIMIT ${JOBS_PER_BATCH}
  `.execute(db);
  const ids = ended.rows.map(({ id }) => id);
  for (const id of ids) await keepReport(db, id, withoutWords(await reportOf(db, id)));
  const { rows } = await sql<Batch>`
    WITH old AS MATERIALIZED (
      SELECT job_id FROM translations WHERE job_id = ANY (${ids}::uuid[]) AND snapshot IS NOT NULL
      FOR UPDATE SKIP LOCKED
    ), emptied AS (
      UPDATE translations AS translation SET snapshot = NULL, context = NULL, terms = NULL FROM old
      WHERE translation.job_id = old.job_id
    ), removed AS (
      DELETE FROM translation_segments AS segment USING old WHERE segment.job_id = old.job_id
      RETURNING 1
    )
    SELECT (SELECT count(*)::integer FROM old) AS jobs,
      (SELECT count(*)::integer FROM removed) AS segments,
      (${ids}::uuid[])[${JOBS_PER_BATCH}] AS last
  `.execute(db);
  return rows[0] ?? NOTHING;
}

/** Removes proposals that nobody has decided about for so long: the next refresh makes them anew. */
function pruneProposals(db: Database, { retentionMs, onProgress }: PruneOptions): Promise<number> {
  const remove = () =>
    sql`
      DELETE FROM proposals WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM proposals WHERE created_at < now() - make_interval(secs => ${retentionMs / 1_000})
        LIMIT ${PROPOSALS}))`.execute(db);
  return removeInBatches(PROPOSALS, remove, onProgress);
}

/**
 * Removes what a translation or refresh worked with, the snapshot of its source and its segments, once its job has ended
 * longer ago than the retention, and proposals of that age. The job itself stays, and of its report all but words. A missing snapshot is the mark of a job that was pruned;
 * every batch of jobs is one statement.
 */
export async function pruneTranslations(
  db: Database,
  options: PruneOptions,
): Promise<{ jobs: number; segments: number }> {
  const { retentionMs, onProgress } = options;
  await pruneProposals(db, options);
  let jobs = 0;
  let segments = 0;
  const batches = inBatches(null, (after: JobId | null) => pruneBatch(db, retentionMs, after));
  for await (const batch of batches) {
    jobs += batch.jobs;
    segments += batch.segments;
    onProgress?.();
  }
  return { jobs, segments };
}
