import { sql } from 'kysely';
import { removeInBatches } from '../../db/batches.ts';
import type { Database } from '../../db/database.ts';

/** Entries that one statement removes. */
const ENTRIES = 2_000;

/** Removes what no translation has used for so long. @returns how many entries */
export const pruneMemory = (db: Database, unusedMs: number, onProgress?: () => void): Promise<number> =>
  removeInBatches(
    ENTRIES,
    () =>
      sql`
        DELETE FROM translation_memory WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM translation_memory WHERE used_at < now() - make_interval(secs => ${unusedMs / 1_000})
          LIMIT ${ENTRIES}))`.execute(db),
    onProgress,
  );
