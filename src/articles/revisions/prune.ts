import { sql } from 'kysely';
import { type PruneOptions, removeInBatches } from '../../db/batches.ts';
import type { Database } from '../../db/database.ts';

/** A revision may have a megabyte. */
const REVISIONS_PER_BATCH = 200;

/**
 * Removes revisions that were replaced longer ago than the retention. One that a save is removing right now is left to
 * it; every batch is one statement.
 * @returns how many were removed
 */
export async function pruneRevisions(
  db: Database,
  { retentionMs, onProgress }: PruneOptions,
): Promise<number> {
  const remove = () =>
    sql`
      DELETE FROM article_revisions WHERE id = ANY (ARRAY(
        SELECT id FROM article_revisions
        WHERE created_at < now() - make_interval(secs => ${retentionMs / 1_000})
        ORDER BY created_at
        LIMIT ${REVISIONS_PER_BATCH}
        FOR UPDATE SKIP LOCKED))`.execute(db);
  return removeInBatches(REVISIONS_PER_BATCH, remove, onProgress);
}
