import { type PruneOptions, removeOlder } from '../db/batches.ts';
import type { Database } from '../db/database.ts';

const ENTRIES_AT_ONCE = 5_000;

/**
 * Removes audit entries older than their retention (contract.md A22).
 * @returns how many were removed
 */
export const pruneAuditEntries = (db: Database, { retentionMs, onProgress }: PruneOptions): Promise<number> =>
  removeOlder(
    db,
    ['audit_entries', 'created_at'],
    { ageMs: retentionMs, limit: ENTRIES_AT_ONCE },
    onProgress,
  );
