import { removeOlder } from '../../db/batches.ts';
import type { Database } from '../../db/database.ts';

const ENTRIES_AT_ONCE = 2_000;

/** Removes what no translation has used for this long. @returns how many entries */
export const pruneMemory = (db: Database, unusedMs: number, onProgress?: () => void): Promise<number> =>
  removeOlder(db, ['translation_memory', 'used_at'], { ageMs: unusedMs, limit: ENTRIES_AT_ONCE }, onProgress);
