import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { extractSegments, planBatches } from '../document/segments.ts';
import type { JobId } from '../ids.ts';

/** Bounds of one provider call: small enough to be repaired cheaply, large enough to carry context. */
const BATCH = { maxWords: 400, maxSegments: 40 } as const;

/**
 * Splits the job's snapshot into segments, one row each, grouped into batches. The rows are the run's
 * memory: what was translated is never asked for again.
 * @returns the number of batches; the same however often it runs
 */
export async function planSegments(db: Database, jobId: JobId, provider: string): Promise<number> {
  const { snapshot } = await db
    .selectFrom('translations')
    .select('snapshot')
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  if (snapshot === null) throw new Error(`job ${jobId} has no snapshot`);
  const batches = planBatches(extractSegments(snapshot), BATCH);
  const rows = batches.flatMap((segments, batch) => segments.map((segment) => ({ ...segment, batch })));
  await inTransaction(db, async (tx) => {
    await sql`
      INSERT INTO translation_segments (job_id, key, batch, source_hash, source_text)
      SELECT ${jobId}, * FROM unnest(
        ${rows.map((row) => row.key)}::text[],
        ${rows.map((row) => row.batch)}::integer[],
        ${rows.map((row) => hash('sha256', row.text))}::text[],
        ${rows.map((row) => row.text)}::text[]
      )
      ON CONFLICT DO NOTHING
    `.execute(tx);
    await tx
      .updateTable('translations')
      .set({ provider, batch_count: batches.length })
      .where('job_id', '=', jobId)
      .execute();
  });
  return batches.length;
}
