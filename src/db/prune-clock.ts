import { sql } from 'kysely';
import type { Database } from './database.ts';

/** How much later one run of prune may believe it is than the one before it. */
const MAX_ADVANCE_DAYS = 3;

/**
 * Moves the time by which prune tells what is old to that of the database, but no further than three days: a clock that
 * jumps ahead makes nothing old that was not nearly so. Once a run, however often it is called.
 * @returns how far the database's clock is ahead of that time, in milliseconds
 */
export async function advancePruneClock(db: Database, runId: string): Promise<number> {
  const { rows } = await sql<{ lead: number }>`
    INSERT INTO prune_clock AS clock (believed, run_id) VALUES (clock_timestamp(), ${runId})
    ON CONFLICT (singleton) DO UPDATE SET run_id = excluded.run_id,
      believed = CASE WHEN clock.run_id = excluded.run_id THEN clock.believed
        ELSE least(excluded.believed, clock.believed + make_interval(days => ${MAX_ADVANCE_DAYS})) END
    RETURNING greatest(0, extract(epoch FROM clock_timestamp() - clock.believed) * 1000)::float8 AS lead`.execute(
    db,
  );
  return Math.ceil(rows[0]?.lead ?? 0);
}
