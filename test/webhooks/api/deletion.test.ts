import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { createIdentify } from '../../../src/api-keys/authenticate.ts';
import { createLastUsedRecorder } from '../../../src/api-keys/last-used.ts';
import { createApp } from '../../../src/http/app.ts';
import { DEFAULT_HTTP_LIMITS } from '../../../src/http/limits.ts';
import type { DeliveryId } from '../../../src/ids.ts';
import { createAddressGuard } from '../../../src/outbound/resolver.ts';
import { deliveryWorkflowId } from '../../../src/temporal/ids.ts';
import { createRunCanceller } from '../../../src/webhooks/endpoints/run-canceller.ts';
import { claimDeliveries, markHandedOver } from '../../../src/webhooks/outbox/claim.ts';
import { whileClaiming } from '../../../src/webhooks/outbox/limits.ts';
import { createWebhookRoutes } from '../../../src/webhooks/routes.ts';
import { createWebhookSender } from '../../../src/webhooks/sending/sender.ts';
import { emit, register, untilDelivery } from '../../support/events.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { logger, type TestWorkspace, useTestService } from '../../support/service.ts';
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
const rowsOf = async (workspace: TestWorkspace) =>
  (
    await service.db
      .selectFrom('webhook_deliveries')
      .select('id')
      .where('workspace_id', '=', workspace.id)
      .execute()
  ).length;

it('deletes an endpoint with 20,000 deliveries, 5,000 of them waiting for a retry, in seconds', async () => {
  const workspace = await service.workspace();
  const { id } = await register(service, workspace, receiver.url);
  const kept = await register(service, workspace, receiver.url);
  await storeDeliveries(service.db, workspace, id, { count: 10_000, state: 'failed' });
  await storeDeliveries(service.db, workspace, id, { count: 5_000, state: 'pending' });
  await storeDeliveries(service.db, workspace, id, { count: 5_000, state: 'waiting' });
  await storeDeliveries(service.db, workspace, kept.id, { count: 10, state: 'failed' });
  const startedAt = performance.now();
  expect((await remove(workspace, id)).status).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  expect(await rowsOf(workspace)).toBe(10);
});

it('deletes endpoints while relays claim from them and hand over, without a deadlock on either side', async () => {
  const workspace = await service.workspace();
  const endpoints = await Promise.all(
    Array.from({ length: 12 }, () => register(service, workspace, receiver.url)),
  );
  for (const { id } of endpoints) {
    await storeDeliveries(service.db, workspace, id, { count: 400, state: 'pending' });
  }
  let done = false;
  const relay = async () => {
    let claimed = 0;
    while (!done) {
      const ids = (await whileClaiming(service.db, (tx) => claimDeliveries(tx))).map(
        (delivery) => delivery.id,
      );
      await markHandedOver(service.db, ids);
      claimed += ids.length;
    }
    return claimed;
  };
  const relays = [relay(), relay(), relay()];
  const statuses = await Promise.all(endpoints.map(async ({ id }) => (await remove(workspace, id)).status));
  done = true;
  const claims = await Promise.all(relays);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(claims.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  expect(await rowsOf(workspace)).toBe(0);
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
    expect(await rowsOf(workspace)).toBe(0);
  }
  for (const outcome of seen) expect(['deleted 200', 'repeated 202', 'repeated 404']).toContain(outcome);
});

it('answers at once while Temporal is away, and lets go of it within two seconds', async () => {
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
      databaseOf: () => service.db,
      logger,
      limits: DEFAULT_HTTP_LIMITS,
      trustedProxies: [],
      identify: createIdentify(service.db, lastUsed),
      pages: () => [],
      readiness: async () => ({ ready: true, checks: {} }),
    },
    createWebhookRoutes({ guard, sender, runCanceller }),
  );
  const startedAt = performance.now();
  const answer = await app.request(`/api/workspaces/${workspace.id}/webhooks/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${workspace.key}` },
  });
  expect(answer.status).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(1_500);
  await runCanceller.close();
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  await nowhere.close();
  await sender.close();
  await lastUsed.close();
});

it('sends nothing after the deletion returned and cancels the runs that wait for a retry', async () => {
  await service.startWorker();
  const workspace = await service.workspace();
  const { id } = await register(service, workspace, receiver.url);
  receiver.answer = () => 503;
  const ids: DeliveryId[] = [];
  for (let count = 0; count < 30; count += 1) ids.push(...(await emit(service, workspace)));
  for (const deliveryId of ids) await untilDelivery(service, deliveryId, ({ attempts }) => attempts === 1);
  expect((await remove(workspace, id)).status).toBe(200);
  const received = receiver.received.length;
  for (const deliveryId of ids) {
    const { status } = await eventually(
      () => client.workflow.getHandle(deliveryWorkflowId(deliveryId)).describe(),
      (run) => run.status.name !== 'RUNNING',
    );
    expect(status.name).toBe('CANCELLED');
  }
  expect(receiver.received).toHaveLength(received);
  expect(await rowsOf(workspace)).toBe(0);
});
