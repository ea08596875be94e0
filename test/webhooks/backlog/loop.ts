import { createDatabase, type Database } from '../../../src/db/database.ts';

/** As the pool of the loop that keeps backlogs: planned once, along indexes. */
export const createLoop = (connectionString: string): Database =>
  createDatabase({
    connectionString,
    prepareStatements: true,
    settings: {
      enable_seqscan: 'off',
      enable_bitmapscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
      plan_cache_mode: 'force_generic_plan',
    },
  });
