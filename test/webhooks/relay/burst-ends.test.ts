import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import { type BurstId, type EndpointId, newId } from '../../../src/ids.ts';
import { createAddressGuard } from '../../../src/outbound/resolver.ts';
import { createDeliveryDatabase } from '../../../src/processes/delivery-database.ts';
import { type BurstOptions, createBursts } from '../../../src/webhooks/relay/bursts.ts';
import { createCapacity } from '../../../src/webhooks/relay/capacity.ts';
import { claimDue } from '../../../src/webhooks/relay/claim.ts';
import { createKnownEndpoints } from '../../../src/webhooks/relay/known-endpoints.ts';
import { createSecretRing } from '../../../src/webhooks/secrets/ring.ts';
import { createWebhookSender } from '../../../src/webhooks/sending/sender.ts';
import { register, rowsOf } from '../../support/events.ts';
import { startPaces } from '../../support/paces.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { logger, type TestWorkspace, useTestService } from '../../support/service.ts';
import { noSuspects } from '../../support/suspects.ts';
import { eventually } from '../../support/wait.ts';
import { storeDeliveries } from '../api/support/deliveries.ts';

const service = useTestService();

let receiver: Receiver;
let workspace: TestWorkspace;
let endpointId: EndpointId;
let db: Database;
let sender: ReturnType<typeof createWebhookSender>;

beforeEach(async () => {
  receiver = await startReceiver();
  workspace = await service.workspace();
  endpointId = (await register(service, workspace, receiver.url)).id;
  db = createDeliveryDatabase({ ...service.config }, logger);
  sender = createWebhookSender({
    guard: createAddressGuard({ allowedNetworks: service.config.WEBHOOK_ALLOWED_NETWORKS }),
  });
  return async () => {
    await receiver.close();
    await sender.close();
    await db.destroy();
    await sql`DELETE FROM webhook_open`.execute(service.db);
  };
});

const store = (count: number) =>
  storeDeliveries(service.db, workspace, endpointId, { count, state: 'pending' });

/** The bursts of one process, and how one of them is run and stopped. */
function startProcess() {
  const stopping = new AbortController();
  const bursts = createBursts({
    db,
    paces: startPaces(db),
    sender,
    secrets: createSecretRing(service.config.SECRETS_KEYS),
    capacity: createCapacity(),
    known: createKnownEndpoints(),
    suspects: noSuspects,
    wake: () => undefined,
    onUnreadable: () => undefined,
    onAttemptBegan: () => undefined,
    onAttemptEnded: () => undefined,
    onError: (error) => {
      throw error;
    },
  });
  const options: BurstOptions = {
    cancelled: new AbortController().signal,
    stopping: stopping.signal,
    retryWhileDatabaseIsAway: (work) => work(),
    onProgress: () => undefined,
  };
  return { bursts, stop: () => stopping.abort(), run: (id: BurstId) => bursts.run(id, options) };
}

type Process = ReturnType<typeof startProcess>;

const openBurst = async ({ bursts }: Process) => {
  const burst = await eventually(
    async () => bursts.accepting(),
    (open) => open !== undefined,
  );
  if (burst === undefined) throw new Error('no burst');
  return burst;
};

const claimFor = async (burstId: BurstId, room: number) => {
  const { deliveries } = await claimDue(db, {
    candidates: [{ endpointId, dueFrom: '-infinity', room, isOnlyIfNew: false }],
    isLook: false,
    walkFrom: null,
    limit: room,
    tokens: 0,
    burstId,
    keyIds: service.config.SECRETS_KEYS.map(({ id }) => id),
    held: [],
  });
  return deliveries;
};

it('a burst that is run again beside its first execution takes back what that has begun', async () => {
  await store(2);
  const { promise: answer, resolve } = Promise.withResolvers<number>();
  receiver.answer = () => answer;
  const [first, second] = [startProcess(), startProcess()];
  const burstId = newId<BurstId>();
  const running = first.run(burstId);
  const burst = await openBurst(first);
  for (const delivery of await claimFor(burstId, 2)) burst.send(delivery, performance.now());
  await eventually(
    async () => receiver.received.length,
    (count) => count === 2,
  );
  expect(await second.run(burstId)).toMatchObject({ succeeded: 0, freed: 2 });
  const rows = await rowsOf(service, workspace);
  expect(rows.map(({ status, attempts }) => [status, attempts])).toEqual([
    ['pending', 0],
    ['pending', 0],
  ]);
  // What they are answered counts all the same.
  resolve(204);
  first.stop();
  await running;
  expect((await rowsOf(service, workspace)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
});

it('a burst that is stopped ends after the claim that is under way for it, and sends what that takes', async () => {
  await store(1);
  const process = startProcess();
  const burstId = newId<BurstId>();
  let hasEnded = false;
  const running = process.run(burstId).finally(() => {
    hasEnded = true;
  });
  const burst = await openBurst(process);
  const { promise: claiming, resolve } = Promise.withResolvers<void>();
  burst.awaits(claiming);
  process.stop();
  const [delivery] = await claimFor(burstId, 1);
  if (delivery === undefined) throw new Error('nothing was claimed');
  expect(process.bursts.accepting()).toBeUndefined();
  expect(hasEnded).toBe(false);
  resolve();
  await claiming;
  burst.send(delivery, performance.now());
  expect(await running).toMatchObject({ succeeded: 1, freed: 0 });
  expect(await rowsOf(service, workspace)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
});

it('what a claim took whose response was lost is as it was before, once its burst has ended', async () => {
  await store(1);
  const process = startProcess();
  const burstId = newId<BurstId>();
  const running = process.run(burstId);
  const burst = await openBurst(process);
  burst.awaits(claimFor(burstId, 1).then(() => Promise.reject(new Error('lost'))));
  process.stop();
  expect(await running).toMatchObject({ freed: 1 });
  const [row] = await service.db.selectFrom('webhook_open').selectAll().execute();
  expect(row).toMatchObject({ status: 'pending', attempts: 0, begun: 0, burst_id: null });
});

it('a delivery whose endpoint is disabled is ended by the burst only while the burst has it', async () => {
  await store(1);
  const process = startProcess();
  const burstId = newId<BurstId>();
  const running = process.run(burstId);
  const burst = await openBurst(process);
  const [delivery] = await claimFor(burstId, 1);
  if (delivery === undefined) throw new Error('nothing was claimed');
  await service.db
    .updateTable('webhook_endpoints')
    .set({ active: false })
    .where('id', '=', endpointId)
    .execute();
  await service.db.transaction().execute(async (tx) => {
    await tx.updateTable('webhook_open').set({ burst_id: null, in_run: true }).execute();
    burst.send(delivery, performance.now() - 2_000);
    await eventually(
      () => sql`SELECT FROM pg_locks WHERE NOT granted`.execute(service.db),
      ({ rows }) => rows.length > 0,
    );
  });
  process.stop();
  expect(await running).toMatchObject({ stopped: 1 });
  expect(await rowsOf(service, workspace)).toMatchObject([
    { status: 'pending', in_run: true, ended_at: null },
  ]);
  expect(receiver.received).toEqual([]);
});

it('the end of a burst costs the same however many deliveries wait', async () => {
  await store(3_000);
  const read = async () => {
    const { rows } = await sql<{ read: number }>`
      SELECT pg_stat_clear_snapshot(), (seq_tup_read + idx_tup_fetch)::float8 AS read
      FROM pg_stat_user_tables WHERE relname = 'webhook_open'`.execute(service.db);
    return rows[0]?.read ?? Number.NaN;
  };
  const flush = async () => {
    await Promise.all(
      Array.from({ length: 8 }, () =>
        db.transaction().execute(async (tx) => {
          await sql`SELECT pg_stat_force_next_flush(), pg_sleep(0.05)`.execute(tx);
        }),
      ),
    );
  };
  await sql`SELECT pg_stat_force_next_flush()`.execute(service.db);
  const process = startProcess();
  const running = process.run(newId<BurstId>());
  await openBurst(process);
  await flush();
  const before = await read();
  process.stop();
  await running;
  await flush();
  expect((await read()) - before).toBeLessThan(100);
});
