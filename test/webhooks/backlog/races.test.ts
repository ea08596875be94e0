import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { inTransaction } from '../../../src/db/transaction.ts';
import { refill } from '../../../src/webhooks/backlog/refill.ts';
import { createLoop } from './loop.ts';
import { HOUR, SMALL, useBacklogs } from './support.ts';

const backlogs = useBacklogs();
const { store, storeLate, number, mark, close, catchUp, deliver, isBehind, open, deliveries } = backlogs;

const behind = async () => {
  await store(8);
  await mark();
};
/** Works off the log until the endpoint is closing. */
const untilClosing = async () => {
  for (let step = 0; (await isBehind()) === 'behind'; step += 1) {
    if (step > 50) throw new Error('it does not begin to close');
    await number();
    await deliver();
    await backlogs.refill();
  }
};

// contract.md W101
it('an event that began before the mark and commits after it has its delivery already, and gets no second one', async () => {
  await store(8);
  const commit = await storeLate();
  await mark();
  await store(2);
  await commit();
  await catchUp();
  expect(await deliveries()).toEqual(Array(11).fill(1));
});

// contract.md W101
it('an event that relied on the mark keeps it until it has committed, got its number and was queued', async () => {
  await behind();
  const commit = await storeLate();
  await store(2);
  await untilClosing();
  expect(await close()).toBe(false);
  await commit();
  // Committed, without a number.
  expect(await close()).toBe(false);
  await number();
  // Numbered, not queued.
  expect(await close()).toBe(false);
  await backlogs.refill();
  expect(await close()).toBe(true);
  expect(await deliveries()).toEqual(Array(11).fill(1));
});

// contract.md W101
it('an event that relied on the mark and rolls back leaves nothing', async () => {
  await behind();
  const end = await storeLate();
  await store(1);
  await untilClosing();
  expect(await close()).toBe(false);
  await end('rollback');
  expect(await close()).toBe(true);
  expect(await deliveries()).toEqual(Array(9).fill(1));
});

/** A statement of an event that has its snapshot and waits for an endpoint that is locked, before it looks at marks. */
async function stalled(work: () => Promise<void>): Promise<void> {
  const { db } = backlogs.database.it;
  await inTransaction(db, async (tx) => {
    await sql`SELECT FROM webhook_endpoints
      WHERE workspace_id = ${backlogs.workspace.it.id} AND id <> ${backlogs.endpoint.it.id} FOR UPDATE`.execute(
      tx,
    );
    const storing = store(1);
    for (let waiting = 0; waiting === 0; ) {
      await sleep(10);
      const { rows } = await sql<{ waiting: number }>`
        SELECT count(*)::integer AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db);
      waiting = rows[0]?.waiting ?? 0;
    }
    await work();
    stalledStore = storing;
  });
  await stalledStore;
}
let stalledStore: Promise<void> = Promise.resolve();

// contract.md W101
it('a statement that began before the mark was gone, and looks for it after that, queues its delivery itself', async () => {
  await behind();
  await backlogs.workspace.it.endpoint(['article.created']);
  await store(1);
  await untilClosing();
  await sql`UPDATE webhook_backlogs SET closing = false`.execute(backlogs.database.it.db);
  const before = await open();
  await stalled(async () => {
    await sql`UPDATE webhook_backlogs SET closing = true`.execute(backlogs.database.it.db);
    expect(await close()).toBe(true);
  });
  expect(await open()).toHaveLength(before.length + 1);
  await number();
  expect(await deliveries()).toEqual(Array(10).fill(1));
});

// contract.md W101
it('a statement that began before the end was prepared, and finds the mark after that, keeps it', async () => {
  await behind();
  await backlogs.workspace.it.endpoint(['article.created']);
  await store(1);
  await untilClosing();
  await sql`UPDATE webhook_backlogs SET closing = false`.execute(backlogs.database.it.db);
  await stalled(async () => {
    await sql`UPDATE webhook_backlogs SET closing = true`.execute(backlogs.database.it.db);
  });
  expect(await close()).toBe(false);
  await catchUp();
  expect(await deliveries()).toEqual(Array(10).fill(1));
});

// contract.md W101
it('workers that refill at once queue each event once', async () => {
  await behind();
  for (let count = 0; count < 20; count += 1) await store(5);
  await number();
  const others = [createLoop(backlogs.database.it.url), createLoop(backlogs.database.it.url)];
  let isOver = false;
  const refilling = [backlogs.loop(), ...others].map(async (db) => {
    while (!isOver) await refill(db, backlogs.endpoint.it.id, HOUR, SMALL);
  });
  for (let rounds = 0; (await isBehind()) === 'behind' && rounds < 2_000; rounds += 1) await deliver();
  isOver = true;
  await Promise.all(refilling);
  for (const db of others) await db.destroy();
  expect(await isBehind()).toBe('closing');
  expect(await deliveries()).toEqual(Array(108).fill(1));
});
