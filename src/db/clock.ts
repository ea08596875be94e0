import { sql } from 'kysely';

/** The time of a write, read when it happens: a save that waited for another never gets the earlier time. */
export const clockTimestamp = sql<Date>`clock_timestamp()`;

/** When the transaction began that has run longest in this database, the present one included and vacuuming not. */
export const oldestTransaction = sql<Date>`(
  SELECT min(xact_start) FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend')`;
