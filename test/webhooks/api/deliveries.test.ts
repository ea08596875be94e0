import { Client, Connection } from '@temporalio/client';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { DELIVERIES_CHANNEL } from '../../../src/events/stored.ts';
import { type BurstId, type EndpointId, instantOf, newId } from '../../../src/ids.ts';
import { deliveryWorkflowId } from '../../../src/temporal/ids.ts';
import { setEndpointActive } from '../../../src/webhooks/endpoints/set-active.ts';
import { verifyWebhook } from '../../../src/webhooks/verify.ts';
import { emitSingle, register, untilDelivery } from '../../support/events.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestService, type TestService, type TestWorkspace } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { storeDeliveries } from './support/deliveries.ts';

let service: TestService;
let connection: Connection;
let receiver: Receiver;
let workspace: TestWorkspace;
let endpoint: { id: EndpointId; secret: string };

beforeAll(async () => {
  service = await startTestService();
  await service.startWorker();
  connection = await Connection.connect({ address: inject('temporalAddress') });
});
afterAll(async () => {
  await connection.close();
  await service.stop();
});
beforeEach(async () => {
  receiver = await startReceiver();
  workspace = await service.workspace();
  endpoint = await register(service, workspace, receiver.url);
  return () => receiver.close();
});

const path = (more = '') => `/api/workspaces/${workspace.id}/webhooks${more}`;
const call = (method: string, more = '', body?: unknown) =>
  service.call(workspace.key, method, path(more), body);
const audited = async (action: string) =>
  service.db
    .selectFrom('audit_entries')
    .select(['target_id', 'details'])
    .where('workspace_id', '=', workspace.id)
    .where('action', '=', action)
    .execute();

const emitOne = () => emitSingle(service, workspace);

// contract.md W8
it('shows a delivery with the exact text sent, each attempt and its response, and when the next is due', async () => {
  receiver.answer = () => 503;
  const id = await emitOne();
  const row = await untilDelivery(service, id, (delivery) => delivery.attempts === 1);
  const { status, body } = await call('GET', `/deliveries/${id}`);
  expect(status).toBe(200);
  expect(body.delivery).toEqual({
    id,
    endpointId: endpoint.id,
    eventType: 'article.created',
    status: 'failed',
    attempts: 1,
    responseStatus: 503,
    errorMessage: 'The receiver responded with 503.',
    deliveredAt: null,
    createdAt: instantOf(id)?.toISOString(),
    nextAttemptAt: row.due_at?.toISOString(),
    workflowId: `webhook-delivery-${id}`,
    body: receiver.received[0]?.raw.toString(),
    attemptLog: [
      {
        number: 1,
        startedAt: expect.stringMatching(/Z$/),
        durationMs: expect.any(Number),
        responseStatus: 503,
        errorMessage: 'The receiver responded with 503.',
        responseBody: '',
      },
    ],
  });
  const [attempt] = body.delivery.attemptLog;
  const wait = Date.parse(body.delivery.nextAttemptAt) - Date.parse(attempt.startedAt) - attempt.durationMs;
  // The wait begins with the end of the attempt; recording it takes a moment of its own.
  expect(wait).toBeGreaterThan(29_900);
  expect(wait).toBeLessThan(45_000);
});

// contract.md W9 and W18
it('shows a delivery that was not attempted yet, and what holds each: nothing, a run or a burst', async () => {
  // No worker finds anything to send at this one.
  await setEndpointActive(workspace.context, { endpointId: endpoint.id, active: false });
  const later = sql<Date>`now() + interval '1 hour'`;
  for (const holder of [{}, { in_run: true }, { burst_id: newId<BurstId>() }]) {
    await storeDeliveries(service.db, workspace, endpoint.id, {
      count: 1,
      state: 'pending',
      holder,
      due: later,
    });
  }
  const { deliveries } = (await call('GET')).body;
  const details = await Promise.all(
    deliveries.map(async ({ id }: { id: string }) => (await call('GET', `/deliveries/${id}`)).body.delivery),
  );
  for (const [index, delivery] of details.entries()) {
    expect(delivery).toMatchObject({ ...deliveries[index], status: 'pending', attempts: 0, attemptLog: [] });
    expect(Date.parse(delivery.nextAttemptAt)).toBeGreaterThan(Date.now());
  }
  expect(details.map(({ workflowId }) => workflowId)).toEqual([
    expect.stringMatching(/^webhook-burst-/),
    `webhook-delivery-${deliveries[1].id}`,
    null,
  ]);
  const open = (await call('GET', `/${endpoint.id}/deliveries?status=open`)).body.deliveries;
  expect(open).toEqual(
    details
      .map(({ body, attemptLog, ...delivery }) => delivery)
      .sort((one, other) => (one.id < other.id ? -1 : 1)),
  );
});

it('finds what is too old for a list of today, in any partition', async () => {
  await storeDeliveries(service.db, workspace, endpoint.id, {
    count: 60,
    state: 'succeeded',
    age: 5 * 86_400,
  });
  const [id] = await storeDeliveries(service.db, workspace, endpoint.id, {
    count: 1,
    state: 'failed',
    age: 3 * 86_400,
  });
  const { deliveries } = (await call('GET')).body;
  expect(deliveries).toHaveLength(50);
  expect(deliveries[0].id).toBe(id);
  const { delivery } = (await call('GET', `/deliveries/${id}`)).body;
  expect(delivery).toMatchObject({ ...deliveries[0], nextAttemptAt: null, attemptLog: [{ number: 1 }] });
  expect((await call('POST', `/deliveries/${id}/redeliver`)).status).toBe(202);
});

// contract.md W17
it('responds 404 to a redelivery of an event that is gone, and counts it for nothing', async () => {
  await storeDeliveries(service.db, workspace, endpoint.id, { count: 2, state: 'failed', age: 100 });
  const [{ id }, { id: other }] = (await call('GET')).body.deliveries;
  await sql`DELETE FROM events WHERE id = (SELECT event_id FROM webhook_log WHERE id = ${id})`.execute(
    service.db,
  );
  expect((await call('POST', `/deliveries/${id}/redeliver`)).status).toBe(404);
  expect((await call('POST', `/${endpoint.id}/redeliver`, { since: '2026-01-01T00:00:00Z' })).body).toEqual({
    count: 1,
    nextCursor: null,
  });
  expect((await call('GET', `/deliveries/${other}`)).status).toBe(200);
});

// contract.md W14
it('cancels a delivery whatever holds it: failed, its attempts unchanged, and nothing is sent', async () => {
  const later = sql<Date>`now() + interval '1 hour'`;
  for (const holder of [{}, { in_run: true }, { burst_id: newId<BurstId>() }]) {
    await storeDeliveries(service.db, workspace, endpoint.id, {
      count: 1,
      state: 'pending',
      holder,
      due: later,
    });
  }
  for (const { id } of (await call('GET')).body.deliveries) {
    const { status, body } = await call('POST', `/deliveries/${id}/cancel`);
    expect(status).toBe(200);
    expect(body.delivery).toMatchObject({ id, status: 'failed', attempts: 0, errorMessage: 'cancelled' });
    const again = await call('POST', `/deliveries/${id}/cancel`);
    expect([again.status, again.body.details]).toEqual([409, { reason: 'delivery_ended' }]);
    expect((await call('GET', `/deliveries/${id}`)).body.delivery).toMatchObject({
      ...body.delivery,
      nextAttemptAt: null,
    });
  }
  expect(await audited('webhooks.cancelled')).toHaveLength(3);
  expect((await call('GET', `/${endpoint.id}/deliveries?status=open`)).body).toEqual({ deliveries: [] });
  expect(receiver.received).toEqual([]);
});

it('cancels a delivery between two attempts, and its run ends', async () => {
  receiver.answer = () => 503;
  const id = await emitOne();
  await untilDelivery(service, id, (delivery) => delivery.attempts === 1);
  expect((await call('POST', `/deliveries/${id}/cancel`)).status).toBe(200);
  const row = await untilDelivery(service, id, (delivery) => delivery.ended_at !== null);
  expect(row).toMatchObject({ status: 'failed', attempts: 1, error_message: 'cancelled' });
  const run = new Client({ connection }).workflow.getHandle(deliveryWorkflowId(id));
  await eventually(
    () => run.describe(),
    ({ status }) => status.name !== 'RUNNING',
  );
  expect(receiver.received).toHaveLength(1);
});

it('counts an attempt whose connection is refused, says so, and tries again', async () => {
  await receiver.close();
  const id = await emitOne();
  await untilDelivery(service, id, (delivery) => delivery.attempts === 1);
  const { delivery } = (await call('GET', `/deliveries/${id}`)).body;
  expect(delivery).toMatchObject({
    status: 'failed',
    responseStatus: null,
    errorMessage: 'The connection was refused.',
    attemptLog: [{ number: 1, errorMessage: 'The connection was refused.', responseBody: null }],
  });
  expect(Date.parse(delivery.nextAttemptAt)).toBeGreaterThan(Date.now() + 20_000);
});

// contract.md W16
it('redelivers one event as a new delivery: another id, the same bytes, a signature of its own', async () => {
  receiver.answer = () => 404;
  const id = await emitOne();
  await untilDelivery(service, id, (delivery) => delivery.ended_at !== null);
  receiver.answer = () => 200;
  const { status, body } = await call('POST', `/deliveries/${id}/redeliver`);
  expect(status).toBe(202);
  expect(body.delivery).toMatchObject({
    endpointId: endpoint.id,
    eventType: 'article.created',
    status: 'pending',
    attempts: 0,
    responseStatus: null,
    errorMessage: null,
  });
  expect(body.delivery.id).not.toBe(id);
  await untilDelivery(service, body.delivery.id, (delivery) => delivery.status === 'succeeded');

  const [first, second] = receiver.received;
  if (first === undefined || second === undefined) throw new Error('expected two requests');
  expect(receiver.received).toHaveLength(2);
  expect(second.raw.equals(first.raw)).toBe(true);
  expect(second.headers['x-service-delivery']).toBe(body.delivery.id);
  expect(verifyWebhook(second.raw, second.headers, endpoint.secret).event).toBe('article.created');
  expect((await call('GET', `/deliveries/${id}`)).body.delivery).toMatchObject({
    status: 'failed',
    attempts: 1,
  });
  expect(await audited('webhooks.redelivered')).toEqual([
    { target_id: id, details: { endpointId: endpoint.id, newDeliveryId: body.delivery.id } },
  ]);
});

it('wakes the relays when it commits a redelivery', async () => {
  const id = await emitOne();
  await untilDelivery(service, id, (delivery) => delivery.status === 'succeeded');
  const listener = new pg.Client({ connectionString: service.config.DATABASE_URL });
  await listener.connect();
  let heard = 0;
  listener.on('notification', () => {
    heard += 1;
  });
  await listener.query(`LISTEN ${DELIVERIES_CHANNEL}`);
  try {
    await call('POST', `/deliveries/${id}/redeliver`);
    await eventually(
      async () => heard,
      (count) => count > 0,
    );
  } finally {
    await listener.end();
  }
});

// contract.md W13
it('redelivers what failed for good since a time, oldest first, and never twice', async () => {
  await storeDeliveries(service.db, workspace, endpoint.id, { count: 2, state: 'failed', age: 7_200 });
  await storeDeliveries(service.db, workspace, endpoint.id, { count: 3, state: 'failed', age: 600 });
  await storeDeliveries(service.db, workspace, endpoint.id, { count: 1, state: 'waiting', age: 500 });
  await storeDeliveries(service.db, workspace, endpoint.id, { count: 1, state: 'succeeded', age: 400 });
  const ago = (seconds: number) =>
    new Date(Date.now() - seconds * 1_000).toISOString().replace('Z', '+00:00');
  const since = (time: string) => call('POST', `/${endpoint.id}/redeliver`, { since: time });

  const both = await Promise.all([since(ago(3_600)), since(ago(3_600))]);
  expect(both.map(({ status }) => status)).toEqual([202, 202]);
  expect(both.map(({ body }) => body.count).sort()).toEqual([0, 3]);
  await eventually(
    async () => receiver.received.length,
    (count) => count === 3,
  );
  expect(new Set(receiver.received.map(({ body }) => body.data.number))).toEqual(new Set([1, 2, 3]));
  expect((await since(ago(3_600))).body).toEqual({ count: 0, nextCursor: null });
  expect((await since(ago(86_400))).body).toEqual({ count: 2, nextCursor: null });
  expect((await since('2999-01-01T00:00:00Z')).body).toEqual({ count: 0, nextCursor: null });
  expect(await audited('webhooks.redelivered')).toHaveLength(5);
  for (const body of [{}, { since: 'yesterday' }, { since: '2026-02-30T00:00:00Z' }, { since: 5 }]) {
    const refused = await call('POST', `/${endpoint.id}/redeliver`, body);
    expect(refused.status).toBe(400);
    expect(refused.body.errors[0].pointer).toBe('/since');
  }
});

it('redelivers 10,000 at most in one go, and the rest on a repeat', async () => {
  // A service without a worker: this is about what is queued.
  const idle = await startTestService();
  try {
    const other = await idle.workspace();
    const { id } = await register(idle, other, receiver.url);
    await storeDeliveries(idle.db, other, id, { count: 10_050, state: 'failed', age: 60 });
    const go = () =>
      idle.call(other.key, 'POST', `/api/workspaces/${other.id}/webhooks/${id}/redeliver`, {
        since: '2000-01-01T00:00:00Z',
      });
    expect((await go()).body).toEqual({ count: 10_000, nextCursor: expect.any(String) });
    // contract.md W105: the bound of what is open.
    expect((await go()).status).toBe(429);
    await sql`
      WITH ended AS (DELETE FROM webhook_open WHERE id IN (
        SELECT id FROM webhook_open WHERE endpoint_id = ${id} LIMIT 100) RETURNING *)
      INSERT INTO webhook_log (id, workspace_id, endpoint_id, event_id, event_created_at, event_type, status, attempts,
        attempt_log, in_run, delivered_at, created_at)
      SELECT id, workspace_id, endpoint_id, event_id, event_created_at, event_type, 'succeeded', 1, '[]', false, now(), created_at
      FROM ended`.execute(idle.db);
    expect((await go()).body).toEqual({ count: 50, nextCursor: null });
    expect((await go()).body).toEqual({ count: 0, nextCursor: null });
  } finally {
    await idle.stop();
  }
});

it('pings an endpoint inline, signed like any delivery, without a delivery row', async () => {
  const { status, body } = await call('POST', `/${endpoint.id}/test`);
  expect(status).toBe(200);
  expect(body).toEqual({
    delivered: true,
    responseStatus: 204,
    errorMessage: null,
    durationMs: expect.any(Number),
    responseBody: '',
  });
  const [request] = receiver.received;
  if (request === undefined) throw new Error('nothing received');
  expect(request.body).toEqual({
    event: 'ping',
    data: { endpointId: endpoint.id, workspaceId: workspace.id },
  });
  expect(request.headers).toMatchObject({ 'content-type': 'application/json', 'x-service-event': 'ping' });
  const verified = verifyWebhook(request.raw, request.headers, endpoint.secret);
  expect(verified).toMatchObject({ event: 'ping', deliveryId: request.headers['x-service-delivery'] });

  receiver.answer = () => 500;
  expect((await call('POST', `/${endpoint.id}/test`)).body).toMatchObject({
    delivered: false,
    responseStatus: 500,
    errorMessage: 'The receiver responded with 500.',
  });
  await receiver.close();
  expect((await call('POST', `/${endpoint.id}/test`)).body).toMatchObject({
    delivered: false,
    responseStatus: null,
    errorMessage: 'The connection was refused.',
    responseBody: null,
  });
  expect(receiver.received[1]?.headers['x-service-delivery']).not.toBe(verified.deliveryId);
  expect((await call('GET')).body.deliveries).toEqual([]);
  expect(await audited('webhooks.tested')).toHaveLength(3);
});

// contract.md W20
it('has 20 pings of a workspace under way at most', async () => {
  const { promise: answer, resolve } = Promise.withResolvers<number>();
  receiver.answer = () => answer;
  const pings = Array.from({ length: 21 }, () => call('POST', `/${endpoint.id}/test`));
  expect(await Promise.race(pings)).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  await eventually(
    async () => receiver.received.length,
    (count) => count === 20,
  );
  resolve(204);
  expect((await Promise.all(pings)).filter(({ status }) => status === 200)).toHaveLength(20);
});

it('lets a delivery end that was queued before its endpoint was disabled', async () => {
  receiver.answer = async () => {
    await setEndpointActive(workspace.context, { endpointId: endpoint.id, active: false });
    return 404;
  };
  const id = await emitOne();
  const row = await untilDelivery(service, id, (delivery) => delivery.ended_at !== null);
  expect(row).toMatchObject({ status: 'failed', attempts: 1, response_status: 404 });
  expect((await call('POST', `/deliveries/${id}/redeliver`)).status).toBe(409);
});
