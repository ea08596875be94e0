import { sql } from 'kysely';

/** The time of a write, read when it happens: a save that waited for another never gets the earlier time. */
export const clockTimestamp = sql<Date>`clock_timestamp()`;
