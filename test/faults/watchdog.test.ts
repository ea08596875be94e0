import { EventEmitter } from 'node:events';
import { Client } from '@temporalio/client';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { createDatabaseProbe, type DatabaseProbe } from '../../src/db/probe.ts';
import { createReadiness } from '../../src/http/readiness.ts';
import { watchRelay } from '../../src/metrics/health.ts';
import { taskQueues } from '../../src/temporal/task-queues.ts';
import { createCapacity } from '../../src/webhooks/relay/capacity.ts';
import { createHeldEndpoints } from '../../src/webhooks/relay/held-endpoints.ts';
import { createKnownEndpoints } from '../../src/webhooks/relay/known-endpoints.ts';
import { type Relay, startRelay } from '../../src/webhooks/relay/relay.ts';
import { createRuns } from '../../src/webhooks/relay/runs.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startPaces } from '../support/paces.ts';
import { logger } from '../support/service.ts';
import { noSuspects } from '../support/suspects.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { eventually } from '../support/wait.ts';

const LIMIT_MS = 2_000;

let database: TestDatabase;
let proxy: TcpProxy;
let db: Database;
let probe: DatabaseProbe;
let relay: Relay;
let unwell: () => Promise<string | null>;
beforeAll(async () => {
  database = await createTestDatabase();
  const url = new URL(database.url);
  proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = proxy.address;
  db = createDatabase({ connectionString: url.href, statementTimeout: 1_000, connectTimeout: 1_000 });
  const client = new Client();
  const names = taskQueues('watchdog-');
  const capacity = createCapacity();
  const known = createKnownEndpoints();
  const wakes = new EventEmitter<{ wake: [] }>();
  const held = createHeldEndpoints(logger, []);
  relay = startRelay({
    ...{ db, common: db, listenUrl: url.href, client, names, logger, capacity, known, held, wakes },
    suspects: noSuspects,
    paces: startPaces(db),
    runs: createRuns(client, names, logger),
    bursts: { accepting: () => undefined, run: () => Promise.reject(new Error('not asked for')) },
    runsPerSecond: 10,
  });
  probe = createDatabaseProbe(url.href);
  const readiness = createReadiness({ postgres: { needed: true, check: probe.check } });
  unwell = watchRelay(() => relay.sinceRound(), readiness, LIMIT_MS);
});
afterAll(async () => {
  await relay.stop();
  await probe.close();
  await db.destroy();
  await proxy.close();
  await database.drop();
});

test('a relay that gets nowhere although Postgres responds is reported, and no longer when it continues', async () => {
  expect(await unwell()).toBeNull();
  await database.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE webhook_open`.execute(tx);
    const reason = await eventually(unwell, (found) => found !== null);
    expect(reason).toMatch(/the relay has not looked for due deliveries for \d+ seconds/);
  });
  await eventually(unwell, (found) => found === null);
});

test('while Postgres is silent it is not the process that is unwell, and its relay goes on by itself', async () => {
  proxy.silence();
  await eventually(
    async () => {
      expect(await unwell()).toBeNull();
      return relay.sinceRound();
    },
    (since) => since > 2 * LIMIT_MS,
  );
  proxy.speak({ lost: true });
  await eventually(
    async () => {
      expect(await unwell()).toBeNull();
      return relay.sinceRound();
    },
    (since) => since < LIMIT_MS,
  );
});
