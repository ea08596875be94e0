import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, inject, it, onTestFinished } from 'vitest';
import { createKeys } from '../../../src/api-keys/authenticate.ts';
import { createLastUsedRecorder } from '../../../src/api-keys/last-used.ts';
import { createDatabase } from '../../../src/db/database.ts';
import { inTransaction } from '../../../src/db/transaction.ts';
import { recordEvents } from '../../../src/events/record.ts';
import { createApp } from '../../../src/http/app.ts';
import { DEFAULT_HTTP_LIMITS } from '../../../src/http/limits.ts';
import type { DeliveryId, EndpointId } from '../../../src/ids.ts';
import { createAddressGuard } from '../../../src/outbound/resolver.ts';
import { withAuthority } from '../../../src/roles/present-authority.ts';
import { deliveryWorkflowId } from '../../../src/temporal/ids.ts';
import { endSome } from '../../../src/webhooks/deliveries/end.ts';
import { emptyDeletedEndpoints } from '../../../src/webhooks/endpoints/empty.ts';
import { createRunCanceller } from '../../../src/webhooks/endpoints/run-canceller.ts';
import { createWebhookRoutes } from '../../../src/webhooks/routes.ts';
import { createSecretRing } from '../../../src/webhooks/secrets/ring.ts';
import { createWebhookSender } from '../../../src/webhooks/sending/sender.ts';
import { articleEvents, emit, register, rowsOf, untilDelivery } from '../../support/events.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { logger, type TestWorkspace, useTestService, WITH_SCHEDULES } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { storeDeliveries } from './support/deliveries.ts';

const service = useTestService();

let connection: Connection;
let client: Client;
let receiver: Receiver;

beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
  client = new Client({ connection });
});
afterAll(async () => {
  await connection.close();
});
beforeEach(async () => {
  receiver = await startReceiver();
  return () => receiver.close();
});

const remove = (workspace: TestWorkspace, id: string) =>
  service.call(workspace.key, 'DELETE', `/api/workspaces/${workspace.id}/webhooks/${id}`);
const countOf = async (id: EndpointId): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT (SELECT count(*) FROM webhook_open WHERE endpoint_id = ${id})
      + (SELECT count(*) FROM webhook_log WHERE endpoint_id = ${id}) AS count`.execute(service.db);
  return rows[0]?.count ?? 0;
};

/** One round of `reconcile`, as far as deleted endpoints go. */
async function emptyOnce(onProgress: (batches: number) => void = () => undefined): Promise<void> {
  await emptyDeletedEndpoints({
    db: service.db,
    onProgress,
    onError: (id, error) => {
      throw new Error(`${id} was left`, { cause: error });
    },
  });
}

const endpointRows = (id: EndpointId) =>
  service.db.selectFrom('webhook_endpoints').select('secret').where('id', '=', id).execute();

/** Lets the two minutes pass that a deleted endpoint's row stays, and whatever transactions there were. */
const letTwoMinutesPass = (id: EndpointId, seconds = 3_600) =>
  service.db
    .updateTable('webhook_endpoints')
    .set({ deleted_at: sql<Date>`now() - make_interval(secs => ${seconds})` })
    .where('id', '=', id)
    .execute();

it("keeps a deleted endpoint's row as long as a transaction runs that began before the deletion", async () => {
  const workspace = await service.workspace();
  const { id } = await register(service, workspace, receiver.url);
  const other = createDatabase({ connectionString: service.config.DATABASE_URL, poolSize: 1 });
  onTestFinished(() => other.destroy());
  await other.transaction().execute(async (tx) => {
    await sql`SELECT now()`.execute(tx);
    await sleep(2_000);
    expect((await remove(workspace, id)).status).toBe(200);
    await letTwoMinutesPass(id, 121);
    await emptyOnce();
    expect(await endpointRows(id)).toHaveLength(1);
  });
  await letTwoMinutesPass(id);
  await emptyOnce();
  expect(await endpointRows(id)).toEqual([]);
});

// contract.md W12
it('hides an endpoint with a log of 50,000 at once, removes nothing but its secret then, and the rest in rounds', async () => {
  const workspace = await service.workspace();
  const { id } = await register(service, workspace, receiver.url);
  const kept = await register(service, workspace, receiver.url);
  for (const age of [0, 86_400]) {
    await storeDeliveries(service.db, workspace, id, {
      count: 25_000,
      state: 'failed',
      age,
      withEvents: false,
    });
  }
  await storeDeliveries(service.db, workspace, id, { count: 500, state: 'waiting' });
  await storeDeliveries(service.db, workspace, kept.id, { count: 10, state: 'failed', age: 300_000 });
  const path = `/api/workspaces/${workspace.id}/webhooks`;
  const call = (method: string, more = '', body?: unknown) =>
    service.call(workspace.key, method, `${path}${more}`, body);
  const [{ id: deliveryId }] = (await call('GET')).body.deliveries;

  expect((await remove(workspace, id)).status).toBe(200);
  expect(await countOf(id)).toBe(50_500);
  expect(await endpointRows(id)).toEqual([{ secret: '' }]);
  const { endpoints, deliveries } = (await call('GET')).body;
  expect(endpoints).toMatchObject([{ id: kept.id }]);
  expect(deliveries.map(({ endpointId }: { endpointId: string }) => endpointId)).toEqual(
    Array(10).fill(kept.id),
  );
  for (const [method, more, body] of [
    ['DELETE', `/${id}`],
    ['POST', `/${id}/test`],
    ['POST', `/${id}/redeliver`, { since: '2026-01-01T00:00:00Z' }],
    ['GET', `/${id}/deliveries?status=open`],
    ['GET', `/deliveries/${deliveryId}`],
    ['POST', `/deliveries/${deliveryId}/redeliver`],
    ['POST', `/deliveries/${deliveryId}/cancel`],
  ] as const) {
    expect((await call(method, more, body)).status).toBe(404);
  }

  // Stopped between two batches, as by a worker's end: what has gone stays gone.
  const stopped = emptyOnce((batches) => {
    if (batches === 3) throw new Error('the worker ends');
  });
  await expect(stopped).rejects.toThrow('the worker ends');
  const left = await countOf(id);
  expect(left).toBeLessThan(50_500);
  expect(left).toBeGreaterThan(25_000);
  await emptyOnce();
  expect(await countOf(id)).toBe(0);
  expect(await endpointRows(id)).toHaveLength(1);
  await letTwoMinutesPass(id);
  await emptyOnce();
  expect(await endpointRows(id)).toEqual([]);
  expect(await countOf(kept.id)).toBe(10);
});

it('waits neither for a change that is storing events, nor for rows that others hold, and removes what they leave', async () => {
  const workspace = await service.workspace();
  const { id } = await register(service, workspace, receiver.url);
  await storeDeliveries(service.db, workspace, id, { count: 20, state: 'pending' });
  await inTransaction(service.db, async (tx) => {
    await recordEvents(tx, workspace.context, articleEvents(5));
    const held = await tx
      .selectFrom('webhook_open')
      .select('id')
      .limit(3)
      .orderBy('id')
      .forUpdate()
      .execute();
    expect((await remove(workspace, id)).status).toBe(200);
    await letTwoMinutesPass(id);
    await emptyOnce();
    // The five of this transaction are not to be seen from outside yet.
    expect(await countOf(id)).toBe(held.length);
    expect(await endpointRows(id)).toHaveLength(1);
  });
  expect(await countOf(id)).toBe(8);
  await emptyOnce();
  expect([await countOf(id), await endpointRows(id)]).toEqual([0, []]);
});

it('ends deliveries of a deleted endpoint without a trace in its log', async () => {
  const workspace = await service.workspace();
  const { id } = await register(service, workspace, receiver.url);
  await storeDeliveries(service.db, workspace, id, { count: 3, state: 'waiting' });
  expect((await remove(workspace, id)).status).toBe(200);
  expect(await endSome(service.db, id, new Date(), 'stopped')).toHaveLength(3);
  expect(await countOf(id)).toBe(0);
});

it('lets a deletion and redeliveries of the same endpoint end either way, and leaves nothing behind', async () => {
  const workspace = await service.workspace();
  const seen = new Set<string>();
  for (let round = 0; round < 20; round += 1) {
    const { id } = await register(service, workspace, receiver.url);
    const [deliveryId] = await emit(service, workspace);
    const path = `/api/workspaces/${workspace.id}/webhooks`;
    const [deleted, ...repeated] = await Promise.all([
      remove(workspace, id),
      service.call(workspace.key, 'POST', `${path}/deliveries/${deliveryId}/redeliver`),
      service.call(workspace.key, 'POST', `${path}/${id}/redeliver`, { since: '2026-01-01T00:00:00Z' }),
    ]);
    seen.add(`deleted ${deleted.status}`);
    for (const { status } of repeated) seen.add(`repeated ${status}`);
    const { deliveries } = (await service.call(workspace.key, 'GET', path)).body;
    expect(deliveries).toEqual([]);
  }
  await emptyOnce();
  expect(await rowsOf(service, workspace)).toEqual([]);
  for (const outcome of seen) expect(['deleted 200', 'repeated 202', 'repeated 404']).toContain(outcome);
});

it('responds at once while Temporal is away, and lets go of it within two seconds', async () => {
  const workspace = await service.workspace();
  const { id } = await register(service, workspace, receiver.url);
  await storeDeliveries(service.db, workspace, id, { count: 100, state: 'waiting' });
  const nowhere = Connection.lazy({ address: '127.0.0.1:1' });
  const runCanceller = createRunCanceller({ client: new Client({ connection: nowhere }), logger });
  const guard = createAddressGuard({ allowedNetworks: [] });
  const lastUsed = createLastUsedRecorder(service.db, logger);
  const sender = createWebhookSender({ guard });
  const app = createApp(
    {
      databaseOf: (actor) => withAuthority(service.db, actor),
      logger,
      limits: DEFAULT_HTTP_LIMITS,
      trustedProxies: [],
      keys: createKeys(service.db, lastUsed),
      pages: () => [],
      readiness: async () => ({ ready: true, checks: {} }),
    },
    createWebhookRoutes({ guard, sender, secrets: createSecretRing([]), runCanceller }),
  );
  const startedAt = performance.now();
  const answer = await app.request(`/api/workspaces/${workspace.id}/webhooks/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${workspace.key}` },
  });
  expect(answer.status).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  await runCanceller.close();
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  await nowhere.close();
  await sender.close();
  await lastUsed.close();
});

// contract.md W5
it('sends nothing after the deletion returned and cancels the runs that wait for a retry', async () => {
  await service.startWorker({}, { WEBHOOK_RUNS_PER_SECOND: '1000' });
  const workspace = await service.workspace();
  const { id } = await register(service, workspace, receiver.url);
  receiver.answer = () => 503;
  const inRuns: DeliveryId[] = [];
  for (let count = 0; count < 10; count += 1) {
    const [deliveryId] = (await emit(service, workspace)) as [DeliveryId];
    const row = await untilDelivery(service, deliveryId, ({ attempts }) => attempts === 1);
    if (row.in_run) inRuns.push(deliveryId);
  }
  expect(inRuns.length).toBeGreaterThan(5);
  expect((await remove(workspace, id)).status).toBe(200);
  const received = receiver.received.length;
  for (const deliveryId of inRuns) {
    const { status } = await eventually(
      () => client.workflow.getHandle(deliveryWorkflowId(deliveryId)).describe(),
      (run) => run.status.name !== 'RUNNING',
    );
    expect(status.name).toBe('CANCELLED');
  }
  expect(receiver.received).toHaveLength(received);
});

it('leaves the rest to reconcile, which removes the endpoint with its last row', async () => {
  await service.startWorker(WITH_SCHEDULES);
  const workspace = await service.workspace();
  const { id } = await register(service, workspace, receiver.url);
  await storeDeliveries(service.db, workspace, id, { count: 100, state: 'failed' });
  expect((await remove(workspace, id)).status).toBe(200);
  await letTwoMinutesPass(id);
  await eventually(
    () => endpointRows(id),
    (rows) => rows.length === 0,
    90_000,
  );
  expect(await countOf(id)).toBe(0);
}, 120_000);
