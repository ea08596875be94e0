import { sql } from 'kysely';
import { inBatches, type PruneOptions } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import type { AiOperationId } from '../ids.ts';

const OPERATIONS_PER_BATCH = 1_000;

interface Batch {
  readonly removed: number;
  /** Null when there was not enough for a full batch. */
  readonly last: AiOperationId | null;
}

/** An operation whose hold is still open waits until `reconcile` has released it. */
async function pruneBatch(db: Database, retentionMs: number, after: AiOperationId | null): Promise<Batch> {
  const { rows } = await sql<Batch>`
    WITH old AS MATERIALIZED (
      SELECT operation.id FROM ai_operations AS operation
      WHERE operation.ended_at < now() - make_interval(secs => ${retentionMs / 1_000})
        AND (${after}::uuid IS NULL OR operation.id > ${after}::uuid)
        AND NOT EXISTS (
          SELECT FROM holds AS hold WHERE hold.run_id = operation.id AND hold.status = 'open')
      ORDER BY operation.id
      LIMIT ${OPERATIONS_PER_BATCH}
      FOR UPDATE OF operation SKIP LOCKED
    ), removed AS (
      DELETE FROM ai_operations AS operation USING old WHERE operation.id = old.id
      RETURNING 1
    )
    SELECT (SELECT count(*)::integer FROM removed) AS removed,
      (SELECT id FROM old ORDER BY id OFFSET ${OPERATIONS_PER_BATCH - 1}) AS last
  `.execute(db);
  return rows[0] ?? { removed: 0, last: null };
}

/**
 * Removes AI operations, with the suggestions stored on them, that ended longer ago than the retention. What a month
 * has used is counted in a separate table, and what was charged is in the ledger: neither changes. Open operations
 * stay, however old; every batch is one statement.
 * @returns how many were removed
 */
export async function pruneOperations(
  db: Database,
  { retentionMs, onProgress }: PruneOptions,
): Promise<number> {
  let removed = 0;
  const batches = inBatches(null, (after: AiOperationId | null) => pruneBatch(db, retentionMs, after));
  for await (const batch of batches) {
    removed += batch.removed;
    onProgress?.();
  }
  return removed;
}
