import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { listenForDeliveries } from '../../src/events/listener.ts';
import { startDeliveryNotifier } from '../../src/events/notifier.ts';
import {
  DELIVERIES_CHANNEL,
  deliveriesStored,
  EVENTS_CHANNEL,
  eventsQueued,
  eventsStored,
  OWN_NOTICE,
} from '../../src/events/stored.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { articleEvents } from '../support/events.ts';
import { logger } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { listeningWorkspace } from './support.ts';

let database: TestDatabase;
let listener: pg.Client;
let heard: string[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  listener = new pg.Client({ connectionString: database.url });
  await listener.connect();
  listener.on('notification', ({ payload = '' }) => heard.push(payload));
  await listener.query(`LISTEN ${DELIVERIES_CHANNEL}`);
});
afterAll(async () => {
  await listener.end();
  await database.drop();
});
const start = () => {
  heard = [];
  return startDeliveryNotifier({ connectionString: database.url, logger });
};
/** What was committed before this has been heard afterwards. */
const caughtUp = () => listener.query('SELECT 1');
// Otherwise a notice of the test before could be taken for one of this test.
beforeEach(async () => void (await caughtUp()));

it('notifies other processes of many transactions with few notices, and no transaction notifies by itself', async () => {
  const workspace = await listeningWorkspace(database);
  await workspace.endpoint(['article.created']);
  heard = [];
  const store = () => Promise.all(Array.from({ length: 200 }, () => workspace.record(...articleEvents(1))));
  await store();
  await caughtUp();
  expect(heard).toEqual([]);
  const notifier = start();
  const began = performance.now();
  await store();
  await notifier.stop();
  const most = (performance.now() - began) / 5 + 2;
  await caughtUp();
  expect(heard.length).toBeGreaterThan(0);
  expect(heard.length).toBeLessThan(Math.min(most, 200));
  expect(new Set(heard)).toEqual(new Set([OWN_NOTICE]));
});

it('leaves it to a relay of the same process, which is notified at once, and wakes those of others', async () => {
  let looks = 0;
  const over = new AbortController();
  const onStored = () => {
    looks += 1;
  };
  const listening = listenForDeliveries({ listenUrl: database.url, logger, onStored }, over.signal);
  const untilLooks = (wanted: number) =>
    eventually(
      async () => looks,
      (count) => count >= wanted,
    );
  await untilLooks(1);
  const notifier = start();
  deliveriesStored.notify();
  await notifier.stop();
  await caughtUp();
  expect(heard).toEqual([OWN_NOTICE]);
  await listener.query(`NOTIFY ${DELIVERIES_CHANNEL}`);
  await untilLooks(2);
  expect(looks).toBe(2);
  over.abort();
  await listening;
});

it('events without deliveries have a notice of their own, which wakes sequencers and no relay', async () => {
  let looks = 0;
  let wakes = 0;
  const unsubscribe = eventsQueued.subscribe(() => {
    wakes += 1;
  });
  const over = new AbortController();
  const onStored = () => {
    looks += 1;
  };
  const listening = listenForDeliveries({ listenUrl: database.url, logger, onStored }, over.signal);
  const untilWakes = (wanted: number) =>
    eventually(
      async () => wakes,
      (count) => count >= wanted,
    );
  await untilWakes(1);
  const channels: string[] = [];
  await listener.query(`LISTEN ${EVENTS_CHANNEL}`);
  const hear = ({ channel }: { channel: string }) => void channels.push(channel);
  listener.on('notification', hear);
  const notifier = start();
  eventsStored.notify();
  await notifier.stop();
  await caughtUp();
  expect(channels).toEqual([EVENTS_CHANNEL]);
  // Those of other processes.
  await listener.query(`NOTIFY ${EVENTS_CHANNEL}`);
  await untilWakes(2);
  expect(looks).toBe(1);
  await listener.query(`NOTIFY ${DELIVERIES_CHANNEL}`);
  await untilWakes(3);
  expect(looks).toBe(2);
  listener.off('notification', hear);
  await listener.query(`UNLISTEN ${EVENTS_CHANNEL}`);
  over.abort();
  await listening;
  unsubscribe();
});

it('sends what was signalled last before it stops, and nothing afterwards', async () => {
  const notifier = start();
  for (let count = 0; count < 1_000; count += 1) deliveriesStored.notify();
  await notifier.stop();
  deliveriesStored.notify();
  await caughtUp();
  expect([1, 2]).toContain(heard.length);
});

it('goes on with a new connection when its own was lost', async () => {
  const notifier = start();
  try {
    deliveriesStored.notify();
    await eventually(
      async () => heard.length,
      (count) => count > 0,
    );
    const { rowCount } = await listener.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%notifier'",
    );
    expect(rowCount).toBe(1);
    const before = heard.length;
    await eventually(
      async () => {
        deliveriesStored.notify();
        return heard.length;
      },
      (count) => count > before,
    );
  } finally {
    await notifier.stop();
  }
});

it('has one connection for all that start it in a process', async () => {
  const [first, second] = [start(), start()];
  deliveriesStored.notify();
  await first.stop();
  deliveriesStored.notify();
  await eventually(
    async () => heard.length,
    (count) => count > 0,
  );
  const connections = await listener.query(
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%notifier'",
  );
  expect(connections.rowCount).toBe(1);
  await second.stop();
});

it('stops in time, and fails no caller, while Postgres cannot be reached', async () => {
  const notifier = startDeliveryNotifier({ connectionString: 'postgres://127.0.0.1:1/nothing', logger });
  deliveriesStored.notify();
  await notifier.stop();
});
