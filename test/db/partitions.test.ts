import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { dropOldPartitions } from '../../src/db/old-partitions.ts';
import {
  listPartitions,
  makePartitions,
  PARTITIONED,
  type PartitionedTable,
  partitionsAhead,
} from '../../src/db/partitions.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { newId, type WorkspaceId } from '../../src/ids.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let database: TestDatabase;
let db: Database;
let other: Database;
let workspaceId: WorkspaceId;
const endpointId = newId();
beforeEach(async () => {
  database = await createTestDatabase();
  db = database.db;
  other = createDatabase({ connectionString: database.url, poolSize: 4 });
  ({ workspaceId } = await createWorkspace(db, { name: 'Acme', credits: 0 }));
  await sql`INSERT INTO webhook_endpoints (id, workspace_id, url, secret, events)
    VALUES (${endpointId}, ${workspaceId}, 'http://127.0.0.1:9/', 'secret', '{article.created}')`.execute(db);
  const made = (await Promise.all(PARTITIONED.map((table) => listPartitions(db, table)))).flat();
  await sql`DROP TABLE ${sql.join(made.map(({ name }) => sql.id(name)))}`.execute(db);
});
afterEach(async () => {
  await other.destroy();
  await database.drop();
});

/** A partition of the past, as one that was made while it was the future. */
async function past(table: PartitionedTable, from: number, to: number): Promise<void> {
  await sql`CREATE TABLE ${sql.id(`${table}_${from}`)} PARTITION OF ${sql.id(table)}
    FOR VALUES FROM (${sql.lit(new Date(from).toISOString())}) TO (${sql.lit(new Date(to).toISOString())})`.execute(
    db,
  );
}

const storeEvents = (at: number, count = 1) => sql<{ id: string }>`
  INSERT INTO events (id, workspace_id, type, body, created_at)
  SELECT gen_random_uuid(), ${workspaceId}, 'article.created', '{}', ${new Date(at).toISOString()}
  FROM generate_series(1, ${count}::integer) RETURNING id`;
const storeEnded = (at: number, count = 1) => sql`
  INSERT INTO webhook_log (id, workspace_id, endpoint_id, event_id, event_created_at, event_type, status, attempts,
    attempt_log, in_run, delivered_at, created_at)
  SELECT gen_random_uuid(), ${workspaceId}, ${endpointId}, gen_random_uuid(), created, 'article.created', 'succeeded', 1,
    '[]', true, created, created
  FROM generate_series(1, ${count}::integer), (SELECT ${new Date(at).toISOString()}::timestamptz AS created) AS at`;
const storeOpen = (eventId: string, at: number) => sql`
  INSERT INTO webhook_open (id, workspace_id, endpoint_id, event_id, event_created_at, event_type, created_at)
  VALUES (uuidv7(), ${workspaceId}, ${endpointId}, ${eventId}, ${new Date(at).toISOString()}, 'article.created', now())`;

const storeQueued = (eventId: string, at: number) => sql`
  INSERT INTO event_queue (workspace_id, event_id, event_created_at)
  VALUES (${workspaceId}, ${eventId}, ${new Date(at).toISOString()})`;
const storeLogged = (number: number, eventId: string, at: number, instant: number) => sql`
  INSERT INTO event_log (workspace_id, number, event_id, event_created_at, instant)
  VALUES (${workspaceId}, ${number}, ${eventId}, ${new Date(at).toISOString()}, ${new Date(instant).toISOString()})`;

const countOf = async (table: string) =>
  (await sql<{ count: number }>`SELECT count(*)::integer AS count FROM ${sql.id(table)}`.execute(db)).rows[0]
    ?.count;

/** Insists that the partitions follow each other without a gap, and returns their lengths. */
async function lengths(table: PartitionedTable): Promise<number[]> {
  const partitions = await listPartitions(db, table);
  for (const [index, { from }] of partitions.entries()) {
    if (index > 0) expect(from).toBe(partitions[index - 1]?.to);
  }
  return partitions.map(({ from, to }) => to - from);
}

it('makes the partitions of a month once, however many processes do so at the same moment', async () => {
  const notes: string[] = [];
  const note = (line: string) => notes.push(line);
  await Promise.all([db, other, other, other].map((each) => makePartitions(each, { note })));
  for (const table of PARTITIONED) {
    expect(await lengths(table)).toEqual(Array.from({ length: 31 }, () => DAY));
    expect(await partitionsAhead(db, table)).toBeGreaterThan((30 * DAY) / 1_000);
  }
  expect(notes).toEqual([]);
  const [first] = await listPartitions(db, 'events');
  expect(first?.name).toBe(`events_${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`);
  await storeEvents(Date.now()).execute(db);
  expect(await countOf('events_default')).toBe(0);
});

it('goes on where the partitions of another length end, in either direction', async () => {
  await makePartitions(db, { minutes: 60 });
  await makePartitions(db);
  await makePartitions(db, { minutes: 7 });
  const made = await lengths('webhook_log');
  expect(made.slice(0, 31)).toEqual(Array.from({ length: 31 }, () => HOUR));
  // The rest of a day, then whole ones.
  expect(made.slice(32).every((length) => length === DAY)).toBe(true);
  expect(await partitionsAhead(db, 'webhook_log')).toBeGreaterThan((30 * DAY) / 1_000);
});

it('leaves a stretch to the default partition that has rows of it, and makes the others', async () => {
  const tomorrow = Date.now() + DAY;
  await storeEvents(tomorrow).execute(db);
  await makePartitions(db);
  const made = await listPartitions(db, 'events');
  expect(made).toHaveLength(30);
  expect(made.some(({ from, to }) => from <= tomorrow && tomorrow < to)).toBe(false);
  expect(await countOf('events')).toBe(1);
  expect(await lengths('webhook_log')).toHaveLength(31);
});

it('makes partitions while others read and write, and waits for readers of the default one', async () => {
  const notes: string[] = [];
  await db
    .transaction()
    .execute(async (tx) => {
      await storeEnded(Date.now() - DAY).execute(tx);
      const writing = makePartitions(other, {
        note: (line) => {
          notes.push(line);
        },
      });
      while (notes.length === 0) {
        await sleep(20);
        // As requests do: a row whose partition is attached meanwhile is stored by the next attempt.
        await inTransaction(other, (inner) => storeEvents(Date.now()).execute(inner));
      }
      expect(notes[0]).toMatch(/^webhook_log_\d{8} waits for a lock/);
      return { writing };
    })
    .then(({ writing }) => writing);
  expect((await listPartitions(db, 'webhook_log')).length).toBeGreaterThanOrEqual(30);
});

it('drops ended deliveries after the retention and events a partition later, unless an open one names them', async () => {
  const midnight = Math.floor(Date.now() / DAY) * DAY;
  const days = [10, 9, 8, 7, 2];
  const named = new Map<number, string>();
  for (const ago of days) {
    const from = midnight - ago * DAY;
    await past('events', from, from + DAY);
    await past('webhook_log', from, from + DAY);
    await storeEnded(from + HOUR, 3).execute(db);
    const { rows } = await storeEvents(from + HOUR, 2).execute(db);
    named.set(ago, rows[0]?.id ?? '');
  }
  await makePartitions(db);
  await storeOpen(named.get(10) ?? '', midnight - 10 * DAY + HOUR).execute(db);
  let steps = 0;
  const options = { retentionMs: 7 * DAY, onProgress: () => (steps += 1) };
  expect(await dropOldPartitions(db, options)).toEqual({ deliveries: 9, events: 2 });
  expect(steps).toBeGreaterThan(4);
  expect(await countOf('webhook_log')).toBe(6);
  // Of the tenth day, which is named, the eighth, which has its day of grace, and of those after it.
  expect(await countOf('events')).toBe(8);
  expect(await dropOldPartitions(db, options)).toEqual({ deliveries: 0, events: 0 });
  await sql`DELETE FROM webhook_open`.execute(db);
  expect(await dropOldPartitions(db, options)).toEqual({ deliveries: 0, events: 2 });
});

it('keeps an event that is redelivered at the same moment, and who comes after the drop finds none', async () => {
  const at = Math.floor(Date.now() / DAY) * DAY - 20 * DAY;
  await past('events', at, at + DAY);
  const { rows } = await storeEvents(at).execute(db);
  const id = rows[0]?.id ?? '';
  const look = sql`SELECT FROM events WHERE id = ${id} AND created_at = ${new Date(at).toISOString()}`;
  let pruning: ReturnType<typeof dropOldPartitions> | undefined;
  await other.transaction().execute(async (tx) => {
    expect((await look.execute(tx)).rows).toHaveLength(1);
    pruning = dropOldPartitions(db, { retentionMs: 7 * DAY });
    await sleep(400);
    await storeOpen(id, at).execute(tx);
  });
  expect(await pruning).toEqual({ deliveries: 0, events: 0 });
  expect((await look.execute(db)).rows).toHaveLength(1);
  await sql`DELETE FROM webhook_open`.execute(db);
  // The drop waits for this one, and another look for the drop.
  await other.transaction().execute(async (tx) => {
    await look.execute(tx);
    pruning = dropOldPartitions(db, { retentionMs: 7 * DAY });
    await sleep(50);
  });
  expect(await pruning).toEqual({ deliveries: 0, events: 1 });
  expect((await look.execute(db)).rows).toHaveLength(0);
});

it('leaves a locked partition for the next time, and blocks no other session', async () => {
  const at = Math.floor(Date.now() / DAY) * DAY - 20 * DAY;
  await past('events', at, at + DAY);
  await storeEvents(at).execute(db);
  await makePartitions(db);
  let done = false;
  let passed = 0;
  await other.transaction().execute(async (dump) => {
    await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(dump);
    await sql`LOCK TABLE events IN ACCESS SHARE MODE`.execute(dump);
    const pruning = dropOldPartitions(db, { retentionMs: 7 * DAY }).finally(() => {
      done = true;
    });
    while (!done) {
      await storeEvents(Date.now()).execute(other);
      passed += 1;
      await sleep(20);
    }
    expect(await pruning).toEqual({ deliveries: 0, events: 0 });
  });
  expect(passed).toBeGreaterThan(20);
  expect((await dropOldPartitions(db, { retentionMs: 7 * DAY })).events).toBe(1);
});

it('removes old rows of the default partitions in batches, except events that an open delivery names', async () => {
  const at = Date.now() - 30 * DAY;
  await storeEnded(at, 1_500).execute(db);
  const { rows } = await storeEvents(at, 2_300).execute(db);
  await storeOpen(rows[7]?.id ?? '', at).execute(db);
  await storeEvents(Date.now() - 7.5 * DAY).execute(db);
  await storeEnded(Date.now() - 6 * DAY).execute(db);
  let steps = 0;
  const options = { retentionMs: 7 * DAY, onProgress: () => (steps += 1) };
  expect(await dropOldPartitions(db, options)).toEqual({ deliveries: 1_500, events: 2_299 });
  expect(steps).toBe(6);
  expect([await countOf('events'), await countOf('webhook_log')]).toEqual([2, 1]);
});

// contract.md W85
it("drops the log's partitions with those of deliveries, and keeps an event that the log or its queue names", async () => {
  const midnight = Math.floor(Date.now() / DAY) * DAY;
  const stored: string[] = [];
  for (const ago of [20, 19, 18]) {
    await past('events', midnight - ago * DAY, midnight - (ago - 1) * DAY);
    await past('event_log', midnight - ago * DAY, midnight - (ago - 1) * DAY);
    const { rows } = await storeEvents(midnight - ago * DAY + HOUR).execute(db);
    stored.push(rows[0]?.id ?? '');
  }
  await makePartitions(db);
  const [first = '', second = '', third = ''] = stored;
  await storeLogged(1, first, midnight - 20 * DAY + HOUR, midnight - 20 * DAY + HOUR).execute(db);
  // Numbered after a standstill of all workers, and not numbered yet.
  await storeLogged(2, second, midnight - 19 * DAY + HOUR, Date.now()).execute(db);
  await storeQueued(third, midnight - 18 * DAY + HOUR).execute(db);
  const left = async () =>
    (await sql<{ id: string }>`SELECT id FROM events ORDER BY created_at`.execute(db)).rows.map(
      ({ id }) => id,
    );
  expect(await dropOldPartitions(db, { retentionMs: 7 * DAY })).toEqual({ deliveries: 0, events: 1 });
  expect([await left(), await countOf('event_log')]).toEqual([[second, third], 1]);
  await sql`DELETE FROM event_log`.execute(db);
  await dropOldPartitions(db, { retentionMs: 7 * DAY });
  expect(await left()).toEqual([third]);
  await sql`DELETE FROM event_queue`.execute(db);
  await dropOldPartitions(db, { retentionMs: 7 * DAY });
  expect(await left()).toEqual([]);
});

it('removes old events of the default partition up to the oldest that the log names', async () => {
  const at = Date.now() - 30 * DAY;
  await storeEvents(at, 10).execute(db);
  const { rows } = await storeEvents(at + HOUR).execute(db);
  await storeQueued(rows[0]?.id ?? '', at + HOUR).execute(db);
  await storeEvents(at + DAY, 5).execute(db);
  expect((await dropOldPartitions(db, { retentionMs: 7 * DAY })).events).toBe(10);
  await sql`DELETE FROM event_queue`.execute(db);
  expect((await dropOldPartitions(db, { retentionMs: 7 * DAY })).events).toBe(6);
});

it('rolls partitions of a minute as it does those of a day', async () => {
  const at = Math.floor(Date.now() / MINUTE) * MINUTE;
  for (const ago of [4, 3, 2]) {
    for (const table of PARTITIONED) await past(table, at - ago * MINUTE, at - (ago - 1) * MINUTE);
    await storeEvents(at - ago * MINUTE).execute(db);
    await storeEnded(at - ago * MINUTE).execute(db);
  }
  await makePartitions(db, { minutes: 1 });
  expect(await partitionsAhead(db, 'events')).toBeGreaterThan(29 * 60);
  const pruned = await dropOldPartitions(db, { retentionMs: 1.1 * MINUTE, partitionMinutes: 1 });
  expect(pruned.deliveries - pruned.events).toBe(1);
});
