import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { doTask } from '../document/threads/pool.ts';
import { inTheBackground } from '../document/threads/share.ts';
import type { JobId } from '../ids.ts';

/** Bounds of one provider call: small enough to be repaired cheaply, large enough to carry context. */
const BATCH = { maxWords: 400, maxSegments: 40 } as const;
/** Batches from which short texts share a call with more of their kind, so that a run's history stays small. */
const MANY_BATCHES = 250;
const MAX_SEGMENTS_OF_MANY = 200;

/** The segments of a job, by what its `snapshot` holds. */
export type Planned = 'plan' | 'planSegmentsOf';

/**
 * Splits the job's snapshot into segments, one row each, grouped into batches. The rows are the run's
 * memory: what was translated is never asked for again.
 * @returns the number of batches; the same however often it runs
 */
export async function planSegments(
  db: Database,
  jobId: JobId,
  provider: string,
  task: Planned = 'plan',
): Promise<number> {
  const { snapshot, workspace_id } = await db
    .selectFrom('translations')
    .select(['workspace_id', sql<string | null>`snapshot::text`.as('snapshot')])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  if (snapshot === null) throw new Error(`job ${jobId} has no snapshot`);
  const batches = await inTheBackground(workspace_id, () =>
    doTask(task, snapshot, BATCH, { many: MANY_BATCHES, segmentsOfMany: MAX_SEGMENTS_OF_MANY }),
  );
  const rows = batches.flatMap((segments, batch) => segments.map((segment) => ({ ...segment, batch })));
  return inTransaction(db, async (tx) => {
    await sql`
      INSERT INTO translation_segments (job_id, key, batch, source_hash, source_text, words)
      SELECT ${jobId}, * FROM unnest(
        ${rows.map((row) => row.key)}::text[],
        ${rows.map((row) => row.batch)}::integer[],
        ${rows.map((row) => hash('sha256', row.text))}::text[],
        ${rows.map((row) => row.text)}::text[],
        ${rows.map((row) => row.words)}::integer[]
      )
      ON CONFLICT DO NOTHING
    `.execute(tx);
    // The rows decide: an earlier run of another release may have planned with other bounds.
    const { count } = await tx
      .selectFrom('translation_segments')
      .select((eb) => eb.fn.coalesce(eb(eb.fn.max('batch'), '+', 1), eb.val(0)).as('count'))
      .where('job_id', '=', jobId)
      .executeTakeFirstOrThrow();
    await tx
      .updateTable('translations')
      .set({ provider, batch_count: count })
      .where('job_id', '=', jobId)
      .execute();
    return count;
  });
}
