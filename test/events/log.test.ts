import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { expandFanOuts } from '../../src/events/fan-out.ts';
import { FIRST, numberEvents } from '../../src/events/log/number-events.ts';
import { type PulledEvents, type PullRequest, pullEvents } from '../../src/events/log/pull.ts';
import { startSequencer } from '../../src/events/log/sequencer.ts';
import { recordEvents } from '../../src/events/record.ts';
import { eventsQueued, eventsStored } from '../../src/events/stored.ts';
import type { ArticleId, WorkspaceId } from '../../src/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { articleEvents } from '../support/events.ts';
import { logger } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { listeningWorkspace } from './support.ts';

let database: TestDatabase;
let other: Database;
let workspace: Awaited<ReturnType<typeof listeningWorkspace>>;
beforeAll(async () => {
  database = await createTestDatabase();
  other = createDatabase({ connectionString: database.url });
});
afterAll(async () => {
  await other.destroy();
  await database.drop();
});
beforeEach(async () => {
  workspace = await listeningWorkspace(database);
});

/** Numbers all that was committed until now. */
async function numberAll(db = database.db): Promise<number> {
  let events = 0;
  for (let idle = 0; idle < 2; ) {
    const round = await numberEvents(db, FIRST);
    events += round.events;
    idle = round.events === 0 ? idle + 1 : 0;
  }
  return events;
}
const pull = (request: Partial<PullRequest> = {}): Promise<PulledEvents> =>
  pullEvents(workspace.context, { limit: 100, ...request });
/** The articles of all events after a cursor, in the order of the log. */
async function pullAll(after?: string, limit = 500): Promise<string[]> {
  const articles: string[] = [];
  for (let cursor = after; ; ) {
    const page = await pull({ after: cursor, limit });
    articles.push(...page.events.map(({ articleId }) => articleId ?? ''));
    if (!page.more) return articles;
    cursor = page.cursor;
  }
}
const article = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}` as ArticleId;
const created = (index: number, title: string) => {
  const [event] = articleEvents(1);
  if (event === undefined) throw new Error('unreachable');
  return { ...event, data: { ...event.data, articleId: article(index), title } };
};

// contract.md E1 and W80
it('every event is in the log with the bytes of webhooks, whether an endpoint subscribes or not', async () => {
  const [heard, unheard] = [articleEvents(3), articleEvents(2)];
  await workspace.record(...unheard);
  await workspace.endpoint(['article.created']);
  await workspace.record(...heard);
  expect(await pull()).toMatchObject({ events: [], more: false });
  await numberAll();
  const { events, more } = await pull();
  expect(more).toBe(false);
  expect(events.map(({ body }) => body.text)).toEqual(
    [...unheard, ...heard].map(({ type, data }) => JSON.stringify({ event: type, data })),
  );
  const { rows } = await sql<{ id: string; created_at: Date }>`
    SELECT id, created_at FROM events WHERE workspace_id = ${workspace.id} ORDER BY id`.execute(database.db);
  expect(events.map(({ id, createdAt }) => [id, createdAt])).toEqual(
    rows.map((row) => [row.id, row.created_at.toISOString()]),
  );
});

// contract.md W81 and W82
it('beside 8 writers and rollbacks, two sequencers and a reader, every event comes once, those of an article in their order', async () => {
  const WRITERS = 8;
  const CHANGES = 60;
  const committed = new Map<string, string[]>();
  const stopping = [database.db, other].map((db) => startSequencer({ db, logger }));
  const write = async (writer: number) => {
    for (let change = 0; change < CHANGES; change += 1) {
      const index = (writer * 7 + change * 3) % 5;
      const title = `${writer} ${change}`;
      await inTransaction(database.db, async (tx) => {
        // As the lock of its article's row.
        await sql`SELECT pg_advisory_xact_lock(${index})`.execute(tx);
        await recordEvents(tx, workspace.context, [created(index, title)]);
        await sleep((writer * change) % 4);
        if ((writer + change) % 4 === 0) throw new Error('rolled back');
        const titles = committed.get(article(index)) ?? [];
        committed.set(article(index), [...titles, title]);
      }).catch((error: unknown) => {
        if (!(error instanceof Error) || error.message !== 'rolled back') throw error;
      });
    }
  };
  const read = new Map<string, string[]>();
  let count = 0;
  let isOver = false;
  const reader = (async () => {
    let { cursor } = await pull({ after: 'latest' });
    for (let idle = 0; idle < 3; ) {
      const page = await pull({ after: cursor, limit: 7 });
      for (const { articleId, body } of page.events) {
        const { data } = JSON.parse(body.text) as { data: { title: string } };
        read.set(articleId ?? '', [...(read.get(articleId ?? '') ?? []), data.title]);
        count += 1;
      }
      cursor = page.cursor;
      if (!page.more) await sleep(60);
      idle = isOver && page.events.length === 0 ? idle + 1 : 0;
    }
  })();
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  isOver = true;
  await reader;
  await Promise.all(stopping.map((each) => each.stop()));
  expect(count).toBe((WRITERS * CHANGES * 3) / 4);
  expect(Object.fromEntries([...read].sort())).toEqual(Object.fromEntries([...committed].sort()));
});

// contract.md W81
it('passes over no event of a transaction that commits late', async () => {
  const late = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const slow = inTransaction(database.db, async (tx) => {
    await recordEvents(tx, workspace.context, [created(1, 'late')]);
    began.resolve();
    await late.promise;
  });
  await began.promise;
  await workspace.record(created(2, 'early'));
  await numberAll();
  const { cursor, events } = await pull();
  expect(events.map(({ articleId }) => articleId)).toEqual([article(2)]);
  late.resolve();
  await slow;
  await numberAll();
  expect(await pullAll(cursor)).toEqual([article(1)]);
});

// contract.md W82
it('a sequencer that holds a counter is not waited for, and what it has not committed is numbered after it', async () => {
  await workspace.record(created(1, 'first'));
  await numberAll();
  const neighbour = await listeningWorkspace(database);
  await neighbour.record(created(9, 'first'));
  await numberAll();
  await workspace.record(created(2, 'second'));
  await neighbour.record(created(9, 'second'));
  await other.transaction().execute(async (tx) => {
    await tx
      .selectFrom('event_counters')
      .selectAll()
      .where('workspace_id', '=', workspace.id)
      .forUpdate()
      .execute();
    expect(await numberEvents(database.db, FIRST)).toMatchObject({ events: 1, isBusy: true });
  });
  expect(await numberAll()).toBe(1);
  expect(await pullAll()).toEqual([article(1), article(2)]);
});

it('workspaces go in turn, and a round has an end', async () => {
  const many = 6_000;
  await sql`INSERT INTO event_queue (workspace_id, event_id, event_created_at)
    SELECT ${workspace.id}, uuidv7(), now() FROM generate_series(1, ${many}::integer)`.execute(database.db);
  const few = await listeningWorkspace(database);
  await few.record(created(1, 'few'));
  expect(await numberEvents(database.db, FIRST)).toMatchObject({ events: 0, isMore: true });
  const first = await numberEvents(database.db, FIRST);
  expect(first).toMatchObject({ events: 2_501, isMore: true });
  expect(await numberAll()).toBe(many + 1 - 2_501);
  const { rows } = await sql<{ gaps: number; last: number }>`
    SELECT (max(log.number) - count(*))::integer AS gaps, max(counter.number)::integer AS last
    FROM event_log AS log JOIN event_counters AS counter USING (workspace_id)
    WHERE workspace_id = ${workspace.id}`.execute(database.db);
  expect(rows).toEqual([{ gaps: 0, last: many }]);
});

it('more workspaces than one round takes are all reached', async () => {
  const { rows } = await sql<{ id: WorkspaceId }>`
    WITH made AS (INSERT INTO workspaces (id, name) SELECT gen_random_uuid(), 'Many' FROM generate_series(1, 250) RETURNING id),
    queued AS (INSERT INTO event_queue (workspace_id, event_id, event_created_at) SELECT id, uuidv7(), now() FROM made)
    SELECT id FROM made`.execute(database.db);
  const sequencer = startSequencer({ db: database.db, logger });
  const ids = rows.map(({ id }) => id);
  await eventually(
    async () =>
      (await database.db.selectFrom('event_log').select('number').where('workspace_id', 'in', ids).execute())
        .length,
    (count) => count === 250,
  );
  await sequencer.stop();
});

// contract.md W80 and W81
it('who is 20,000 events behind reads each once, in their order, 500 a request', async () => {
  const { rows } = await sql<{ id: string }>`WITH stored AS (
      INSERT INTO events (id, workspace_id, type, article_id, body, created_at)
      SELECT id, ${workspace.id}, 'article.created', gen_random_uuid(), '{}', uuid_extract_timestamp(id)
      FROM (SELECT uuidv7() AS id FROM generate_series(1, 20000)) AS made RETURNING id, created_at),
    queued AS (INSERT INTO event_queue (workspace_id, event_id, event_created_at)
      SELECT ${workspace.id}, id, created_at FROM stored ORDER BY id)
    SELECT id FROM stored ORDER BY id`.execute(database.db);
  await numberAll();
  const read: string[] = [];
  const began = performance.now();
  for (let after: string | undefined, more = true; more; ) {
    const page = await pull({ after, limit: 500 });
    read.push(...page.events.map(({ id }) => id));
    ({ cursor: after, more } = page);
  }
  expect(read).toEqual(rows.map(({ id }) => id));
  // Four seconds on a machine with nothing else to do: see bench/events/pull.ts.
  expect(performance.now() - began).toBeLessThan(20_000);
});

// contract.md W81
it('what no notice has told of is found by the look for lists, twice a second', async () => {
  let wakes = 0;
  const unsubscribe = eventsQueued.subscribe(() => {
    wakes += 1;
  });
  const look = () => expandFanOuts(database.db, { signal: new AbortController().signal });
  await numberAll();
  await look();
  expect(wakes).toBe(0);
  await workspace.record(created(1, 'unheard'));
  await look();
  expect(wakes).toBe(1);
  unsubscribe();
});

// contract.md W83
it('is filtered by names and article, and says how far it has looked', async () => {
  const article1 = created(1, 'one');
  await workspace.record(article1, created(2, 'two'), {
    type: 'article.generation.failed',
    data: { articleId: article(1), jobId: article(7), error: 'none' },
  });
  await numberAll();
  const byType = await pull({ types: ['article.generation.failed'] });
  expect(byType.events.map(({ type }) => type)).toEqual(['article.generation.failed']);
  const byArticle = await pull({ articleId: article(1), limit: 1 });
  expect(byArticle).toMatchObject({ more: true });
  expect((await pull({ articleId: article(1), after: byArticle.cursor })).events).toHaveLength(1);
  const none = await pull({ articleId: article(5) });
  expect(none).toMatchObject({ events: [], more: false });
  expect(none.cursor).toBe((await pull({ after: 'latest' })).cursor);
});

// contract.md W83
it('looks at 10,000 events a request at most', async () => {
  await sql`WITH stored AS (
      INSERT INTO events (id, workspace_id, type, article_id, body, created_at)
      SELECT id, ${workspace.id}, 'article.created', gen_random_uuid(), '{}', uuid_extract_timestamp(id)
      FROM (SELECT uuidv7() AS id FROM generate_series(1, 10001)) AS made RETURNING id, created_at)
    INSERT INTO event_queue (workspace_id, event_id, event_created_at)
    SELECT ${workspace.id}, id, created_at FROM stored ORDER BY id`.execute(database.db);
  await workspace.record(created(3, 'last'));
  await numberAll();
  const first = await pull({ articleId: article(3) });
  expect(first).toMatchObject({ events: [], more: true });
  const second = await pull({ articleId: article(3), after: first.cursor });
  expect([second.events.length, second.more]).toEqual([1, false]);
});

// contract.md W84
it('a response has up to 1 MiB of bodies, and one event at least', async () => {
  const wide = (index: number, bytes: number) => created(index, 'x'.repeat(bytes));
  await workspace.record(wide(1, 400_000), wide(2, 400_000), wide(3, 400_000), wide(4, 1_500_000));
  await numberAll();
  const sizes: number[] = [];
  for (let cursor: string | undefined, more = true; more; ) {
    const page = await pull({ after: cursor });
    sizes.push(page.events.length);
    ({ cursor, more } = page);
  }
  expect(sizes).toEqual([2, 1, 1]);
});

const lostOf = async (after: string) =>
  pull({ after }).then(
    () => ({ code: 'none', details: { oldest: '' } }),
    (error: { code: string; details: { oldest: string } }) => ({ code: error.code, details: error.details }),
  );

// contract.md W86
it('a cursor is lost only when its next event is gone, or it is not of this log', async () => {
  await workspace.record(...Array.from({ length: 5 }, (_, index) => created(index, 'kept')));
  await numberAll();
  const cursors: string[] = [];
  for (let after: string | undefined, more = true; more; ) {
    const page = await pull({ after, limit: 1 });
    cursors.push(page.cursor);
    ({ cursor: after, more } = page);
  }
  const [, second = '', third = '', , last = ''] = cursors;
  await database.db
    .deleteFrom('event_log')
    .where('workspace_id', '=', workspace.id)
    .where('number', '<=', 3)
    .execute();
  // Its own event is gone, its next one is there.
  expect(await pullAll(third)).toEqual([article(3), article(4)]);
  const details = { reason: 'cursor_lost', oldest: expect.any(String), latest: last };
  const refused = await lostOf(second);
  expect(refused).toEqual({ code: 'GONE', details });
  expect(await pullAll()).toEqual([article(3), article(4)]);
  expect(await pullAll(refused.details.oldest)).toEqual([article(3), article(4)]);
  // Nothing is kept: only who has read all goes on.
  await database.db.deleteFrom('event_log').where('workspace_id', '=', workspace.id).execute();
  expect(await pull({ after: last })).toMatchObject({ events: [], more: false });
  expect(await lostOf(third)).toEqual({ code: 'GONE', details: { ...details, oldest: last } });
  expect(await pull()).toMatchObject({ events: [], cursor: last });
  // One of another workspace.
  const neighbour = await listeningWorkspace(database);
  await neighbour.record(...Array.from({ length: 5 }, (_, index) => created(index, 'theirs')));
  await numberAll();
  const { cursor: foreign } = await pullEvents(neighbour.context, { limit: 100 });
  expect(await lostOf(foreign)).toMatchObject({ code: 'GONE' });
});

// contract.md W87
it('after a restore of an earlier state a cursor of what was lost is refused, also once its number is given again', async () => {
  await workspace.record(created(1, 'kept'));
  await numberAll();
  const { cursor: before } = await pull();
  const { rows: dumped } = await sql<{ row: unknown }>`
    SELECT row_to_json(counter) AS row FROM event_counters AS counter WHERE workspace_id = ${workspace.id}`.execute(
    database.db,
  );
  await workspace.record(created(2, 'lost'));
  await numberAll();
  const { cursor: ahead } = await pull();
  await sql`DELETE FROM event_log WHERE workspace_id = ${workspace.id} AND number > 1`.execute(database.db);
  await sql`UPDATE event_counters AS counter SET number = dumped.number, event_id = dumped.event_id, instant = dumped.instant
    FROM jsonb_populate_record(null::event_counters, ${JSON.stringify(dumped[0]?.row)}) AS dumped
    WHERE counter.workspace_id = ${workspace.id}`.execute(database.db);
  expect(await lostOf(ahead)).toMatchObject({ code: 'GONE' });
  await workspace.record(created(3, 'again'));
  await numberAll();
  expect(await lostOf(ahead)).toMatchObject({ code: 'GONE' });
  await workspace.record(created(4, 'later'));
  await numberAll();
  expect(await lostOf(ahead)).toMatchObject({ code: 'GONE' });
  expect(await pullAll(before)).toEqual([article(3), article(4)]);
});

it("an instant never lies before the one of the workspace's last event", async () => {
  await workspace.record(created(1, 'one'));
  await numberAll();
  const ahead = new Date(Date.now() + 3_600_000);
  await sql`UPDATE event_log SET instant = ${ahead} WHERE workspace_id = ${workspace.id}`.execute(
    database.db,
  );
  await sql`UPDATE event_counters SET instant = ${ahead} WHERE workspace_id = ${workspace.id}`.execute(
    database.db,
  );
  await workspace.record(created(2, 'two'));
  await numberAll();
  expect(await pullAll(undefined, 1)).toEqual([article(1), article(2)]);
});

it.each(['', 'x', 'latest ', 'MQ', Buffer.from('1 x').toString('base64url'), 'OTk5OTk5OTk5OTk5OTk5OTk5IA'])(
  'refuses %j, which is no cursor',
  (after) => {
    expect(() => pullEvents(workspace.context, { after, limit: 1 })).toThrow(/query\/after|cursor/);
  },
);

it('numbers what is stored within 100 ms, and rests while nothing is', async () => {
  let rounds = 0;
  const sequencer = startSequencer({
    db: database.db,
    logger,
    onRound: () => {
      rounds += 1;
    },
  });
  await numberAll();
  await sleep(300);
  const idle = rounds;
  await sleep(700);
  expect(rounds).toBe(idle);
  const { cursor } = await pull({ after: 'latest' });
  await workspace.record(created(1, 'one'));
  await eventually(
    () => pull({ after: cursor }),
    ({ events }) => events.length === 1,
  );
  expect(rounds).toBeGreaterThan(idle);
  await sequencer.stop();
  const stopped = rounds;
  eventsStored.notify();
  await sleep(150);
  expect(rounds).toBe(stopped);
});
