import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { oldestTransaction } from './clock.ts';
import type { Database, Queryable, Tx } from './database.ts';
import { isLockTimeout, isUncovered } from './errors.ts';
import { LOCK_TIMEOUT, type Note, withLockRetries } from './online.ts';

/** Each has a default partition, `<table>_default`, for rows outside all others. */
export const PARTITIONED = ['events', 'webhook_log', 'event_log'] as const;
export type PartitionedTable = (typeof PARTITIONED)[number];
/** What a table's rows are partitioned by. */
const keyOf = (table: PartitionedTable) => sql.id(table === 'event_log' ? 'instant' : 'created_at');

/** The default length of a partition: a day, in UTC. */
const DAY_MINUTES = 1_440;
/** Partitions made ahead, not counting the present one. */
const AHEAD = 30;

/** Rows of a default partition that one statement removes. */
const ROWS_A_BATCH = 1_000;
/** Larger partitions are counted by Postgres's estimate, in bytes. */
const COUNTED_BYTES = 2 ** 28;
/** How long a removal waits for its lock, in milliseconds, while publishing waits behind it; and the attempts. */
const LOCK_WAIT_MS = 250;
const LOCK_TRIES = 10;

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

async function databaseTime(db: Database): Promise<number> {
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
const bound = (at: number) => sql.lit(new Date(at).toISOString());

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

export interface Retention {
  /** How long ended deliveries and the event log are kept, in milliseconds. Events are kept for a partition longer. */
  readonly retentionMs: number;
  readonly partitionMinutes?: number | undefined;
  /** Called between any two steps; throwing stops the work. */
  readonly onProgress?: (() => void) | undefined;
}

/** How many rows were removed, by estimate where partitions are large. */
export interface Dropped {
  readonly events: number;
  readonly deliveries: number;
}

/**
 * Drops the partitions of ended deliveries and of the event log that are older than the retention, and those of events
 * one partition later, once no open delivery and nothing of the log names one of their events; removes rows as old from the default partitions in batches. A
 * partition whose lock cannot be had is left for the next time.
 */
export async function dropOldPartitions(
  db: Database,
  { retentionMs, partitionMinutes = DAY_MINUTES, onProgress = () => undefined }: Retention,
): Promise<Dropped> {
  const cutoff = (await databaseTime(db)) - retentionMs;
  const removeUntil = async (table: PartitionedTable, until: number) => {
    let removed = 0;
    for (const partition of await listPartitions(db, table)) {
      if (partition.to > until) break;
      onProgress();
      const since = await firstUnseenId(db);
      if (table === 'events' && (await isNamed(db, partition))) continue;
      const rows = await countRows(db, partition.name);
      const dropped = await withBriefLock(db, (tx) => dropUnlessNamed(tx, table, partition, since));
      if (dropped === undefined) return removed;
      if (dropped) removed += rows;
    }
    for (let batch = ROWS_A_BATCH; batch === ROWS_A_BATCH; removed += batch) {
      onProgress();
      const remove = table === 'events' ? removeEventsFromDefault : removeFromDefault;
      batch = (await remove(db, table, until)) ?? 0;
    }
    return removed;
  };
  await removeUntil('event_log', cutoff);
  return {
    deliveries: await removeUntil('webhook_log', cutoff),
    events: await removeUntil('events', cutoff - partitionMinutes * 60_000),
  };
}

/** Makes the partitions ahead, and drops those older than the retention. */
export async function rotatePartitions(db: Database, retention: Retention): Promise<Dropped> {
  await makePartitions(db, { minutes: retention.partitionMinutes, note: () => retention.onProgress?.() });
  return dropOldPartitions(db, retention);
}

async function countRows(db: Database, name: string): Promise<number> {
  const { rows } = await sql<{ bytes: number; estimate: number }>`
    SELECT pg_relation_size(oid)::float8 AS bytes, greatest(0, reltuples)::float8 AS estimate
    FROM pg_class WHERE oid = to_regclass(${name})`.execute(db);
  const [{ bytes, estimate } = { bytes: 0, estimate: 0 }] = rows;
  if (bytes > COUNTED_BYTES) return Math.round(estimate);
  const counted = await sql<{ rows: number }>`SELECT count(*)::integer AS rows FROM ${sql.id(name)}`.execute(
    db,
  );
  return counted.rows[0]?.rows ?? 0;
}

/**
 * Runs `work` in a transaction that blocks others only briefly while it waits for a lock.
 * @returns undefined when the lock could not be had for a while
 */
async function withBriefLock<Result>(
  db: Database,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result | undefined> {
  for (let tries = 1; tries <= LOCK_TRIES; tries += 1) {
    try {
      return await db.transaction().execute(async (tx) => {
        await sql`SET LOCAL lock_timeout = ${sql.lit(LOCK_WAIT_MS)}`.execute(tx);
        return work(tx);
      });
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      // Sessions that waited behind us go first.
      await sleep(3 * LOCK_WAIT_MS);
    }
  }
  return undefined;
}

/**
 * The least id of a delivery that no statement sees before its own transaction has ended; a minute less, should the clock
 * have been set back.
 */
async function firstUnseenId(db: Database): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    SELECT uuidv7(${oldestTransaction} - clock_timestamp() - interval '1 minute') AS id`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the database returned no id');
  return row.id;
}

/**
 * Whether an open delivery, or the log, names an event of the partition. Reads all of them, which takes a second where
 * millions are open.
 */
async function isNamed(db: Queryable, { from, to }: Partition): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM webhook_open WHERE event_created_at >= ${bound(from)} AND event_created_at < ${bound(to)} LIMIT 1`.execute(
    db,
  );
  return rows.length > 0 || (await oldestInLog(db, to)) < to;
}

/**
 * Drops a partition that nothing named a moment ago. Only a redelivery names one of its events after that. With the lock it has
 * either committed and is seen among the latest deliveries, along the primary key, or finds no event afterwards.
 * @param since {@link firstUnseenId} of that moment
 */
async function dropUnlessNamed(
  tx: Tx,
  table: PartitionedTable,
  { name, from, to }: Partition,
  since: string,
): Promise<boolean> {
  // The table before its partition, in the order of all other statements.
  await sql`LOCK TABLE ONLY ${sql.id(table)} IN ACCESS EXCLUSIVE MODE`.execute(tx);
  const { rows: there } = await sql`SELECT FROM pg_class WHERE oid = to_regclass(${name})`.execute(tx);
  if (there.length === 0) return false;
  await sql`LOCK TABLE ${sql.id(name)} IN ACCESS EXCLUSIVE MODE`.execute(tx);
  if (table === 'events') {
    const { rows } = await sql`
      SELECT FROM webhook_open
      WHERE id > ${since} AND event_created_at >= ${bound(from)} AND event_created_at < ${bound(to)}
      LIMIT 1`.execute(tx);
    if (rows.length > 0) return false;
  }
  await sql`DROP TABLE ${sql.id(name)}`.execute(tx);
  return true;
}

/**
 * When the oldest event was stored that the event log, or its queue, names; at most `until`. An event is in exactly one
 * of them in each snapshot. Both are numbered within moments, so only a long standstill of all workers finds any.
 * @param until in milliseconds since 1970
 */
async function oldestInLog(tx: Queryable, until: number): Promise<number> {
  const { rows } = await sql<{ oldest: number | null }>`
    SELECT (extract(epoch FROM min(event_created_at)) * 1000)::float8 AS oldest FROM (
      SELECT event_created_at FROM event_queue WHERE event_created_at < ${bound(until)}
      UNION ALL SELECT event_created_at FROM event_log WHERE event_created_at < ${bound(until)}
    ) AS named`.execute(tx);
  return Math.min(until, rows[0]?.oldest ?? until);
}

/** @returns how many rows of the default partition were removed, one batch at most; undefined without the lock */
const removeFromDefault = (
  db: Database,
  table: PartitionedTable,
  until: number,
): Promise<number | undefined> =>
  withBriefLock(db, async (tx) => {
    const partition = sql.id(`${table}_default`);
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM ${partition} WHERE ctid IN (
        SELECT ctid FROM ${partition} WHERE ${keyOf(table)} < ${bound(until)} LIMIT ${ROWS_A_BATCH}
      )`.execute(tx);
    return Number(numAffectedRows);
  });

/** The same for events, except those that are named. As for a partition, all deliveries are read before the lock is taken. */
async function removeEventsFromDefault(
  db: Database,
  table: PartitionedTable,
  until: number,
): Promise<number | undefined> {
  const partition = sql.id(`${table}_default`);
  const since = await firstUnseenId(db);
  const isOld = sql`old.created_at < ${bound(await oldestInLog(db, until))}`;
  const { rows } = await sql<{ id: string }>`
    SELECT old.id FROM ${partition} AS old
    WHERE ${isOld} AND NOT EXISTS (SELECT FROM webhook_open AS open WHERE open.event_id = old.id)
    LIMIT ${ROWS_A_BATCH}`.execute(db);
  if (rows.length === 0) return 0;
  return withBriefLock(db, async (tx) => {
    await sql`LOCK TABLE ${partition} IN ACCESS EXCLUSIVE MODE`.execute(tx);
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM ${partition} AS old WHERE ${isOld} AND old.id = ANY (${rows.map(({ id }) => id)}::uuid[])
        AND NOT EXISTS (SELECT FROM webhook_open AS open WHERE open.id > ${since} AND open.event_id = old.id)`.execute(
      tx,
    );
    return Number(numAffectedRows);
  });
}
