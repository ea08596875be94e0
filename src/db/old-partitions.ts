/** Removes partitions of events, ended deliveries and the event log after their retention. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { oldestTransaction } from './clock.ts';
import type { Database, Queryable, Tx } from './database.ts';
import { isLockTimeout } from './errors.ts';
import {
  bound,
  DAY_MINUTES,
  databaseTime,
  keyOf,
  listPartitions,
  makePartitions,
  type Partition,
  type PartitionedTable,
} from './partitions.ts';

/** Rows of a default partition that one statement removes. */
const ROWS_A_BATCH = 1_000;
/** Larger partitions are counted by Postgres's estimate, in bytes. */
const COUNTED_BYTES = 2 ** 28;
/** How long a removal waits for its lock, in milliseconds, while publishing waits behind it; and the attempts. */
const LOCK_WAIT_MS = 250;
const LOCK_TRIES = 10;

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
 * one partition later, once no open delivery and nothing of the log names one of their events; removes rows as old from
 * the default partitions in batches. A partition whose lock cannot be had is left for the next time.
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
      const since = table === 'events' ? await firstUnseenId(db) : null;
      if (since !== null && (await isNamed(db, partition))) continue;
      const rows = await countRows(db, partition.name);
      const dropped = await withBriefLock(db, (tx) => dropUnlessNamed(tx, table, partition, since));
      if (dropped === undefined) return removed;
      if (dropped) removed += rows;
    }
    for (let batch = ROWS_A_BATCH; batch === ROWS_A_BATCH; removed += batch) {
      onProgress();
      const removing =
        table === 'events' ? removeEventsFromDefault(db, until) : removeFromDefault(db, table, until);
      batch = (await removing) ?? 0;
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
 * The least id of a delivery whose transaction may still run: whoever looks now sees all smaller ones. A minute less, should the
 * clock have been set back.
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
 * @param since {@link firstUnseenId} of that moment; null for what no delivery names
 */
async function dropUnlessNamed(
  tx: Tx,
  table: PartitionedTable,
  { name, from, to }: Partition,
  since: string | null,
): Promise<boolean> {
  // The table before its partition, in the order of all other statements.
  await sql`LOCK TABLE ONLY ${sql.id(table)} IN ACCESS EXCLUSIVE MODE`.execute(tx);
  const { rows: there } = await sql`SELECT FROM pg_class WHERE oid = to_regclass(${name})`.execute(tx);
  if (there.length === 0) return false;
  await sql`LOCK TABLE ${sql.id(name)} IN ACCESS EXCLUSIVE MODE`.execute(tx);
  if (since !== null) {
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
async function removeEventsFromDefault(db: Database, until: number): Promise<number | undefined> {
  const partition = sql.id('events_default');
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
