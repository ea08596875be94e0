import { type PruneOptions, removeOlder } from '../../db/batches.ts';
import type { Database } from '../../db/database.ts';

/** A revision may have a megabyte. */
const REVISIONS_AT_ONCE = 200;

/**
 * Removes revisions that were replaced longer ago than the retention.
 * @returns how many were removed
 */
export const pruneRevisions = (db: Database, { retentionMs, onProgress }: PruneOptions): Promise<number> =>
  removeOlder(
    db,
    ['article_revisions', 'created_at'],
    { ageMs: retentionMs, limit: REVISIONS_AT_ONCE },
    onProgress,
  );
