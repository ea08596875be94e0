import { sql } from 'kysely';
import { inBatches, type PruneOptions, removeInBatches } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
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

/** Leaves alone what another pruning is at: it has the texts that the report is drawn from. */
const pruneBatch = (db: Database, retentionMs: number, after: JobId | null): Promise<Batch> =>
  inTransaction(db, async (tx) => {
    const ended = await sql<{ id: JobId }>`
      SELECT translation.job_id AS id FROM translations AS translation
      JOIN jobs AS job ON job.id = translation.job_id
      WHERE translation.snapshot IS NOT NULL
        AND job.ended_at < now() - make_interval(secs => ${retentionMs / 1_000})
        AND (${after}::uuid IS NULL OR translation.job_id > ${after}::uuid)
      ORDER BY translation.job_id
      LIMIT ${JOBS_PER_BATCH}
      FOR UPDATE OF translation SKIP LOCKED
    `.execute(tx);
    const ids = ended.rows.map(({ id }) => id);
    for (const id of ids) await keepReport(tx, id, withoutWords(await reportOf(tx, id)));
    const { rows } = await sql<Batch>`
      WITH emptied AS (
        UPDATE translations SET snapshot = NULL, context = NULL, terms = NULL WHERE job_id = ANY (${ids}::uuid[])
      ), removed AS (
        DELETE FROM translation_segments WHERE job_id = ANY (${ids}::uuid[]) RETURNING 1
      )
      SELECT cardinality(${ids}::uuid[]) AS jobs, (SELECT count(*)::integer FROM removed) AS segments,
        (${ids}::uuid[])[${JOBS_PER_BATCH}] AS last
    `.execute(tx);
    return rows[0] ?? NOTHING;
  });

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
 * every batch of jobs is one transaction.
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
