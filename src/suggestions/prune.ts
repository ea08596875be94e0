import { sql } from 'kysely';
import { type PruneOptions, removeInBatches } from '../db/batches.ts';
import type { Database } from '../db/database.ts';

const OPERATIONS_AT_ONCE = 1_000;

/**
 * Removes AI operations, with their suggestions, that ended longer ago than the retention. Monthly usage and charges are
 * in other tables and do not change. Open operations stay, as do those with an open hold until `reconcile` releases it.
 * @returns how many were removed
 */
export const pruneOperations = (db: Database, { retentionMs, onProgress }: PruneOptions): Promise<number> =>
  removeInBatches(
    OPERATIONS_AT_ONCE,
    () =>
      sql`
        DELETE FROM ai_operations WHERE id = ANY (ARRAY(
          SELECT operation.id FROM ai_operations AS operation
          WHERE operation.ended_at < now() - make_interval(secs => ${retentionMs / 1_000})
            AND NOT EXISTS (
              SELECT FROM holds AS hold WHERE hold.run_id = operation.id AND hold.status = 'open')
          ORDER BY operation.id
          LIMIT ${OPERATIONS_AT_ONCE}
          FOR UPDATE OF operation SKIP LOCKED))`.execute(db),
    onProgress,
  );
