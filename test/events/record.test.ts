import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { afterCommit, inTransaction } from '../../src/db/transaction.ts';
import { recordEvents } from '../../src/events/record.ts';
import { deliveriesStored } from '../../src/events/stored.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { articleEvents } from '../support/events.ts';
import { listeningWorkspace } from './support.ts';

let database: TestDatabase;
let workspace: Awaited<ReturnType<typeof listeningWorkspace>>;
let signals = 0;
let unsubscribe: () => void;
beforeAll(async () => {
  database = await createTestDatabase();
  unsubscribe = deliveriesStored.subscribe(() => {
    signals += 1;
  });
});
afterAll(async () => {
  unsubscribe();
  await database.drop();
});
beforeEach(async () => {
  workspace = await listeningWorkspace(database);
  signals = 0;
});

const stored = () =>
  database.db
    .selectFrom('webhook_open as delivery')
    .leftJoin('events as event', (join) =>
      join
        .onRef('event.id', '=', 'delivery.event_id')
        .onRef('event.created_at', '=', 'delivery.event_created_at'),
    )
    .selectAll('delivery')
    .select(['event.article_id', 'event.body', 'event.request_id'])
    .where('delivery.workspace_id', '=', workspace.id)
    .orderBy('delivery.id')
    .execute();
const eventCount = async () =>
  (await database.db.selectFrom('events').select('id').where('workspace_id', '=', workspace.id).execute())
    .length;

// contract.md E1 and W6
it('stores a delivery for each living, active endpoint that subscribes, in the order of the events', async () => {
  const listening = [
    await workspace.endpoint(['article.created']),
    await workspace.endpoint(['article.published', 'article.created']),
  ].sort();
  await workspace.endpoint(['article.published']);
  await workspace.endpoint(['article.created'], { active: false });
  await workspace.endpoint(['article.created'], { deleted_at: new Date() });
  await (await listeningWorkspace(database)).endpoint(['article.created']);
  const events = articleEvents(50);
  await workspace.record(...events);

  const rows = await stored();
  expect(rows.map((row) => [row.article_id, row.endpoint_id])).toEqual(
    events.flatMap(({ data }) => listening.map((id) => [data.articleId, id])),
  );
  expect(rows.map(({ body }) => body?.toString())).toEqual(
    events.flatMap(({ type, data }) => listening.map(() => JSON.stringify({ event: type, data }))),
  );
  expect(rows[0]).toMatchObject({
    event_type: 'article.created',
    request_id: 'test',
    status: 'pending',
    attempts: 0,
    attempt_log: [],
    in_run: false,
    burst_id: null,
  });
  expect(await eventCount()).toBe(50);
});

it('gives events and deliveries ids that say when they were stored', async () => {
  await workspace.endpoint(['article.created']);
  await workspace.record(...articleEvents(3));
  const { rows } = await sql<{ wrong: number }>`
    SELECT count(*)::integer AS wrong FROM webhook_open
    WHERE workspace_id = ${workspace.id} AND NOT (uuid_extract_version(id) = 7
      AND uuid_extract_version(event_id) = 7
      AND created_at = uuid_extract_timestamp(id)
      AND event_created_at = uuid_extract_timestamp(event_id))`.execute(database.db);
  expect(rows).toEqual([{ wrong: 0 }]);
  for (const { created_at, due_at } of await stored()) {
    expect(Math.abs(created_at.getTime() - due_at.getTime())).toBeLessThan(10_000);
  }
});

// contract.md E1
it('stores an event without a subscriber for the log, and signals no delivery', async () => {
  await workspace.endpoint(['article.published']);
  await workspace.record(...articleEvents(2));
  expect([await eventCount(), await stored(), signals]).toEqual([2, [], 0]);
});

// contract.md W81
it('leaves a row of the queue for each event, in the order of the events', async () => {
  await workspace.record(...articleEvents(20));
  const { rows } = await sql<{ queued: string[]; stored: string[] }>`SELECT
    ARRAY(SELECT event_id FROM event_queue WHERE workspace_id = ${workspace.id} ORDER BY id) AS queued,
    ARRAY(SELECT id FROM events WHERE workspace_id = ${workspace.id} ORDER BY id) AS stored`.execute(
    database.db,
  );
  expect(rows[0]?.queued).toHaveLength(20);
  expect(rows[0]?.queued).toEqual(rows[0]?.stored);
});

it('signals once a transaction that stored deliveries has committed, and not before', async () => {
  await workspace.endpoint(['article.created']);
  await inTransaction(database.db, async (tx) => {
    await recordEvents(tx, workspace.context, articleEvents(2));
    await recordEvents(tx, workspace.context, articleEvents(2));
    await new Promise((resolve) => setImmediate(resolve));
    expect(signals).toBe(0);
  });
  expect(signals).toBe(1);
});

it('signals nothing of a transaction that was rolled back', async () => {
  await workspace.endpoint(['article.created']);
  const rolledBack = inTransaction(database.db, async (tx) => {
    await recordEvents(tx, workspace.context, articleEvents(1));
    throw new Error('changed its mind');
  });
  await expect(rolledBack).rejects.toThrow('changed its mind');
  expect([await eventCount(), signals]).toEqual([0, 0]);
});

it('calls back for the attempt of a transaction that committed, not for those before it', async () => {
  const called: number[] = [];
  let attempt = 0;
  await inTransaction(database.db, async (tx) => {
    attempt += 1;
    const own = attempt;
    afterCommit(tx, () => called.push(own));
    if (own < 3) await sql`DO $$ BEGIN RAISE serialization_failure; END $$`.execute(tx);
  });
  expect(called).toEqual([3]);
});

it('takes a change for made even when what comes after its commit throws', async () => {
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
  let second = false;
  const result = await inTransaction(database.db, async (tx) => {
    afterCommit(tx, () => {
      throw new Error('a listener is broken');
    });
    afterCommit(tx, () => {
      second = true;
    });
    return 'made';
  });
  expect([result, second]).toEqual(['made', true]);
  expect((await warned).message).toBe('a listener is broken');
});

it('refuses to follow up a transaction whose commit it does not see', async () => {
  await database.db.transaction().execute(async (tx) => {
    expect(() => afterCommit(tx, () => undefined)).toThrow(/inTransaction/);
  });
});
