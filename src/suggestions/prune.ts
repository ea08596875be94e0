import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { AiOperationId } from '../ids.ts';

const OPERATIONS_A_BATCH = 1_000;

export interface PruneOperationsOptions {
  /** Milliseconds that ended operations are kept. */
  readonly retentionMs: number;
  /** Called after every batch; what it throws stops the work there. */
  readonly onProgress?: () => void;
}

interface Batch {
  readonly removed: number;
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
      LIMIT ${OPERATIONS_A_BATCH}
      FOR UPDATE OF operation SKIP LOCKED
    ), removed AS (
      DELETE FROM ai_operations AS operation USING old WHERE operation.id = old.id
      RETURNING 1
    )
    SELECT (SELECT count(*)::integer FROM removed) AS removed,
      (SELECT id FROM old ORDER BY id DESC LIMIT 1) AS last
  `.execute(db);
  return rows[0] ?? { removed: 0, last: null };
}

/**
 * Removes AI operations, with the suggestions stored on them, that ended longer ago than the retention. What a month
 * has used is counted in a table of its own, and what was charged is in the ledger: neither changes. Open operations
 * stay, however old; every batch is one statement.
 * @returns how many were removed
 */
export async function pruneOperations(
  db: Database,
  { retentionMs, onProgress }: PruneOperationsOptions,
): Promise<number> {
  let removed = 0;
  for (let batch = await pruneBatch(db, retentionMs, null); batch.removed > 0; ) {
    removed += batch.removed;
    onProgress?.();
    batch = await pruneBatch(db, retentionMs, batch.last);
  }
  return removed;
}
