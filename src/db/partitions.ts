import { sql } from 'kysely';
import type { Database, Queryable } from './database.ts';
import { isUncovered } from './errors.ts';
import { LOCK_TIMEOUT, type Note, withLockRetries } from './online.ts';

/** Each has a default partition, `<table>_default`, for rows outside all others. */
export const PARTITIONED = ['events', 'webhook_log', 'event_log'] as const;
export type PartitionedTable = (typeof PARTITIONED)[number];
/** What a table's rows are partitioned by. */
export const keyOf = (table: PartitionedTable) => sql.id(table === 'event_log' ? 'instant' : 'created_at');

/** The default length of a partition: a day, in UTC. */
export const DAY_MINUTES = 1_440;
/** Partitions made ahead, not counting the present one. */
const AHEAD = 30;

/** A partition with its bounds, in milliseconds since 1970: from `from` to before `to`. */
export interface Partition {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** The partitions of a table, oldest first, without the default one. */
export async function listPartitions(db: Queryable, table: PartitionedTable): Promise<Partition[]> {
  const { rows } = await sql<Partition>`
    SELECT name, (extract(epoch FROM bounds[1]::timestamptz) * 1000)::float8 AS "from",
      (extract(epoch FROM bounds[2]::timestamptz) * 1000)::float8 AS "to"
    FROM (
      SELECT relname AS name, regexp_match(pg_get_expr(relpartbound, oid), '\\(''(.+)''\\) TO \\(''(.+)''\\)') AS bounds
      FROM pg_class WHERE oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = ${table}::regclass)
    ) AS partition
    WHERE bounds IS NOT NULL ORDER BY 2`.execute(db);
  return rows;
}

/** Milliseconds since 1970 by Postgres's clock. */
export async function databaseTime(db: Database): Promise<number> {
  const { rows } = await sql<{ now: number }>`
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the database returned no time');
  return row.now;
}

/** Seconds from now to the end of a table's partitions; 0 once rows go to the default one. */
export async function partitionsAhead(db: Database, table: PartitionedTable): Promise<number> {
  const last = (await listPartitions(db, table)).at(-1);
  return last === undefined ? 0 : Math.max(0, (last.to - (await databaseTime(db))) / 1_000);
}

/** `events_20261122` for one that begins with that day, else `events_20261122_0510`. */
const nameOf = (table: PartitionedTable, from: number): string =>
  `${table}_${new Date(from)
    .toISOString()
    .slice(0, 16)
    .replace(/-|:|T00:00/g, '')
    .replace('T', '_')}`;
/** A bound as Postgres reads it. */
export const bound = (at: number) => sql.lit(new Date(at).toISOString());

/**
 * Makes the missing partitions of all these tables for now and 30 ahead. Any number of processes may do so at once, with any
 * lengths: existing ones stay. A range of which the default partition has rows is left to it.
 * @throws what Postgres reports for a role that does not own the tables
 */
export async function makePartitions(
  db: Database,
  { minutes = DAY_MINUTES, note = () => undefined }: { minutes?: number | undefined; note?: Note } = {},
): Promise<void> {
  const length = minutes * 60_000;
  const now = await databaseTime(db);
  const start = Math.floor(now / length) * length;
  for (const table of PARTITIONED) {
    const there = await listPartitions(db, table);
    const present = there.find((each) => each.from <= now && now < each.to);
    for (let from = present?.to ?? start; from < start + (AHEAD + 1) * length; ) {
      const found = there.find((each) => each.from <= from && from < each.to);
      const next = Math.min(
        (Math.floor(from / length) + 1) * length,
        ...there.map((each) => each.from).filter((each) => each > from),
      );
      if (found === undefined) {
        const partition = { name: nameOf(table, from), from, to: next };
        await withLockRetries(partition.name, note, () => make(db, table, partition));
      }
      from = found?.to ?? next;
    }
  }
}

/** Created apart from the table and attached, which blocks no reader or writer of it. */
async function make(db: Database, table: PartitionedTable, { name, from, to }: Partition) {
  try {
    await db.transaction().execute(async (tx) => {
      await sql`SET LOCAL lock_timeout = ${sql.lit(LOCK_TIMEOUT)}`.execute(tx);
      await sql`SELECT pg_advisory_xact_lock(hashtext('makePartitions'), hashtext(${table}))`.execute(tx);
      const there = await listPartitions(tx, table);
      if (there.some((each) => each.from < to && from < each.to)) return;
      await sql`CREATE TABLE ${sql.id(name)} (LIKE ${sql.id(table)} INCLUDING ALL)`.execute(tx);
      await sql`ALTER TABLE ${sql.id(table)} ATTACH PARTITION ${sql.id(name)}
        FOR VALUES FROM (${bound(from)}) TO (${bound(to)})`.execute(tx);
    });
  } catch (error) {
    if (!isUncovered(error)) throw error;
  }
}
