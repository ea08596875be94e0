import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { inTransaction } from '../../../src/db/transaction.ts';
import { readBacklog } from '../../../src/metrics/backlog.ts';
import { keepBacklogs } from '../../../src/webhooks/backlog/keep.ts';
import { endOverdue } from '../../../src/webhooks/deliveries/end.ts';
import { articleEvents } from '../../support/events.ts';
import { logger } from '../../support/service.ts';
import { HOUR, SMALL, useBacklogs } from './support.ts';

const backlogs = useBacklogs();
const { store, number, mark, refill, close, deliver, catchUp, isBehind, open, events, deliveries } = backlogs;

// contract.md W100
it('an endpoint with more open deliveries than the bound is marked, and events queue nothing for it any more', async () => {
  const other = await backlogs.workspace.it.endpoint(['article.created', 'article.published']);
  await store(SMALL.mark);
  expect(await mark()).toEqual([]);
  await store(1);
  await deliver(1);
  await store(1);
  expect((await mark()).sort()).toEqual([backlogs.endpoint.it.id, other].sort());
  expect(await mark()).toEqual([]);
  expect((await readBacklog(backlogs.database.it.db)).behind).toBe(2);
  await sql`DELETE FROM webhook_backlogs WHERE endpoint_id = ${other}`.execute(backlogs.database.it.db);
  const before = await open();
  await store(4);
  expect(await open()).toEqual(before);
  expect(await deliveries(other)).toEqual(Array(SMALL.mark + 6).fill(1));
  // Nobody who does not subscribe to it is named by an event.
  await backlogs.workspace.it.record({
    type: 'article.generation.failed',
    data: { articleId: crypto.randomUUID(), jobId: crypto.randomUUID(), error: 'none' } as never,
  });
  const { rows } = await sql<{ behind: string[] | null }>`
    SELECT behind FROM events WHERE workspace_id = ${backlogs.workspace.it.id} ORDER BY id DESC LIMIT 5`.execute(
    backlogs.database.it.db,
  );
  expect(rows.map(({ behind }) => behind)).toEqual([null, ...Array(4).fill([backlogs.endpoint.it.id])]);
});

// contract.md W101
it('is refilled from the log in order, once few are open, and has each event once', async () => {
  await store(8);
  await number();
  await mark();
  await store(9);
  // Numbers come later: until then there is nothing to refill from.
  await deliver();
  expect(await refill()).toMatchObject({ queued: 0 });
  expect(await isBehind()).toBe('closing');
  await store(1);
  await number();
  const [first = '', ...rest] = (await events()).slice(8);
  // The one stored while it was closing has queued itself.
  expect(await open()).toEqual([rest.at(-1)]);
  expect(await refill()).toMatchObject({ queued: 3 });
  expect((await open()).slice(1)).toEqual([first, ...rest.slice(0, 2)]);
  // Enough are open: nothing more is queued, and the mark stays.
  expect(await refill()).toMatchObject({ queued: 0, isDone: true });
  expect(await close()).toBe(false);
  await catchUp();
  expect(await isBehind()).toBe('no');
  expect(await deliveries()).toEqual(Array(18).fill(1));
  const before = await open();
  await store(2);
  expect(await open()).toEqual([...before, ...(await events()).slice(-2)]);
});

// contract.md W101
it('goes on from where it is when very much is open again while it closes', async () => {
  await store(8);
  await mark();
  await store(5);
  await number();
  await deliver();
  for (let step = 0; (await isBehind()) === 'behind' && step < 9; step += 1) {
    await refill();
    await deliver();
  }
  expect(await isBehind()).toBe('closing');
  await store(8);
  expect(await mark()).toEqual([backlogs.endpoint.it.id]);
  expect(await isBehind()).toBe('behind');
  await store(8);
  await catchUp();
  expect(await deliveries()).toEqual(Array(29).fill(1));
});

// contract.md W101
it('who registers later, and who was not active, gets nothing of before', async () => {
  await store(8);
  await mark();
  await store(2);
  const late = await backlogs.workspace.it.endpoint(['article.created']);
  await backlogs.database.it.db
    .updateTable('webhook_endpoints')
    .set({ active: false })
    .where('id', '=', late)
    .execute();
  await store(3);
  await backlogs.database.it.db
    .updateTable('webhook_endpoints')
    .set({ active: true })
    .where('id', '=', late)
    .execute();
  await store(1);
  await catchUp();
  expect(await deliveries()).toEqual(Array(14).fill(1));
  expect(await deliveries(late)).toEqual([...Array(13).fill(0), 1]);
});

// contract.md W100 and W101
it('the bounds hold at their real size: 25,000 events', async () => {
  const real = { mark: 10_000, refill: 5_000, queued: 5_000, looked: 10_000 };
  for (let count = 0; count < 11; count += 1) await store(1_000);
  await number();
  expect(await mark(real)).toHaveLength(1);
  for (let count = 0; count < 14; count += 1) await store(1_000);
  await number();
  expect(await open()).toHaveLength(11_000);
  await deliver(6_001);
  expect(await refill(HOUR, real)).toMatchObject({ queued: 5_000 });
  expect(await open()).toHaveLength(9_999);
  for (let step = 0; (await isBehind()) !== 'no'; step += 1) {
    if (step > 20) throw new Error('it does not catch up');
    await deliver();
    const { isClosing } = await refill(HOUR, real);
    if (isClosing) await close();
  }
  expect(await deliveries()).toEqual(Array(25_000).fill(1));
}, 120_000);

const missed = async () => {
  const { rows } = await sql<{ first_number: number; last_number: number }>`
    SELECT first_number, last_number FROM webhook_missed WHERE endpoint_id = ${backlogs.endpoint.it.id}`.execute(
    backlogs.database.it.db,
  );
  return rows;
};

// contract.md W102
it('passes over what is too old, however many are open, and nothing else', async () => {
  await store(8);
  await mark();
  await store(6);
  await number();
  await backlogs.age(2 * HOUR);
  await store(3);
  await number();
  for (let step = 0; step < 9; step += 1) await refill();
  expect(await missed()).toEqual([{ first_number: 9, last_number: 14 }]);
  expect(await isBehind()).toBe('behind');
  expect(await open()).toHaveLength(8);
  await catchUp();
  expect(await deliveries()).toEqual([...Array(8).fill(1), ...Array(6).fill(0), ...Array(3).fill(1)]);
  expect(await missed()).toEqual([{ first_number: 9, last_number: 14 }]);
});

it('what waited too long is counted, in the log and in deliveries', async () => {
  await store(8);
  await mark();
  await store(6);
  await number();
  await backlogs.age(2 * HOUR);
  await sql`UPDATE webhook_open SET id = uuidv7(interval '-2 hours'), created_at = created_at - interval '2 hours'`.execute(
    backlogs.database.it.db,
  );
  const counted = { tooOld: 0, missed: 0 };
  const stop = keepBacklogs({
    db: backlogs.loop(),
    logger,
    maxAgeSeconds: HOUR,
    retentionSeconds: 24 * HOUR,
    onTooOld: (count) => (counted.tooOld += count),
    onMissed: (count) => (counted.missed += count),
    bounds: SMALL,
    countMs: 20,
  });
  onTestFinished(stop);
  await expect.poll(() => counted, { timeout: 20_000 }).toEqual({ tooOld: 8, missed: 6 });
});

// contract.md W102
it('a disabled endpoint is passed over until the end of the log, and begins anew once it is enabled', async () => {
  const set = (active: boolean) =>
    backlogs.database.it.db
      .updateTable('webhook_endpoints')
      .set({ active })
      .where('id', '=', backlogs.endpoint.it.id)
      .execute();
  await store(8);
  await mark();
  await store(6);
  await set(false);
  await store(2);
  await number();
  for (let step = 0; step < 9; step += 1) {
    const { isClosing } = await refill();
    if (isClosing) await close();
  }
  expect(await isBehind()).toBe('no');
  await set(true);
  await store(1);
  expect(await deliveries()).toEqual([...Array(8).fill(1), ...Array(8).fill(0), 1]);
  expect(await missed()).toEqual([{ first_number: 9, last_number: 14 }]);
});

// contract.md W102
it.each([
  ['a part', 10, { first_number: 9, last_number: 10 }],
  ['all', 14, { first_number: 9, last_number: 14 }],
])('%s of the log that is gone before it was queued is missed', async (_, gone, expected) => {
  await store(8);
  await number();
  await mark();
  await store(6);
  await number();
  await backlogs.database.it.db
    .deleteFrom('event_log')
    .where('workspace_id', '=', backlogs.workspace.it.id)
    .where('number', '<=', gone)
    .execute();
  await catchUp();
  expect(await missed()).toEqual([expected]);
  expect(await deliveries()).toEqual([
    ...Array(8).fill(1),
    ...Array(gone - 8).fill(0),
    ...Array(14 - gone).fill(1),
  ]);
});

// contract.md W103
it('ends open deliveries that are too old, whoever has them, but no attempt that has begun', async () => {
  const { db } = backlogs.database.it;
  await store(5);
  const [, running, begun] = (await sql<{ id: string }>`SELECT id FROM webhook_open ORDER BY id`.execute(db))
    .rows;
  await sql`UPDATE webhook_open SET in_run = true WHERE id = ${running?.id}`.execute(db);
  await sql`UPDATE webhook_open SET burst_id = gen_random_uuid(), begun = 1 WHERE id = ${begun?.id}`.execute(
    db,
  );
  expect(await endOverdue(backlogs.loop(), HOUR)).toBe(0);
  await sql`UPDATE webhook_open SET id = uuidv7(interval '-2 hours'), created_at = created_at - interval '2 hours'`.execute(
    db,
  );
  await inTransaction(db, async (tx) => {
    await sql`SELECT FROM webhook_open WHERE NOT in_run AND begun = 0 ORDER BY id LIMIT 1 FOR UPDATE`.execute(
      tx,
    );
    expect(await endOverdue(backlogs.loop(), HOUR)).toBe(3);
  });
  expect(await endOverdue(backlogs.loop(), HOUR)).toBe(1);
  const { rows } = await sql`
    SELECT status, error_message, attempts FROM webhook_log WHERE endpoint_id = ${backlogs.endpoint.it.id}`.execute(
    db,
  );
  expect(rows).toEqual(
    Array(4).fill({ status: 'failed', error_message: 'not delivered within 1 hours', attempts: 0 }),
  );
  expect(await open()).toHaveLength(1);
});

it('is in no list of another endpoint, and goes with its own', async () => {
  await store(8);
  await mark();
  await backlogs.workspace.it.record(...articleEvents(2));
  await backlogs.database.it.db
    .deleteFrom('webhook_open')
    .where('endpoint_id', '=', backlogs.endpoint.it.id)
    .execute();
  await backlogs.database.it.db
    .deleteFrom('webhook_endpoints')
    .where('id', '=', backlogs.endpoint.it.id)
    .execute();
  expect(await isBehind()).toBe('no');
});
