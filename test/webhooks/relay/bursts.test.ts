import { createServer } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '../../../src/db/transaction.ts';
import { recordEvents } from '../../../src/events/record.ts';
import { burstWorkflowId, deliveryWorkflowId } from '../../../src/temporal/ids.ts';
import { verifyWebhook } from '../../../src/webhooks/verify.ts';
import { articleEvents, emit, emitTogether, rowsOf } from '../../support/events.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { connectOperator, type Operator } from '../../support/temporal.ts';
import { burstOf, deliveryIds, subscribe, untilAll, untilReceived } from './support.ts';

let service: TestService;
let operator: Operator;

beforeAll(async () => {
  service = await startTestService();
  operator = await connectOperator();
  await service.startWorker();
});
afterAll(async () => {
  await operator.close();
  await service.stop();
});

it('a few deliveries each get a run of their own', async () => {
  const { workspace, receiver } = await subscribe(service);
  await emitTogether(service, workspace, 3);
  const rows = await untilAll(service, workspace, ({ status }) => status === 'succeeded');
  for (const { id } of rows) expect(await operator.closed(deliveryWorkflowId(id))).toBe('COMPLETED');
  expect(rows.map(({ burst_id }) => burst_id)).toEqual([null, null, null]);
  await receiver.close();
});

// contract.md D21
it('a backlog of 1,000 deliveries goes through a few runs, each delivery once, signed, and recorded as ever', async () => {
  const { workspace, receiver, endpoint } = await subscribe(service);
  await emitTogether(service, workspace, 1_000);
  await untilReceived(receiver, 1_000);
  const rows = await untilAll(service, workspace, ({ status }) => status === 'succeeded');
  expect(new Set(deliveryIds(receiver))).toEqual(new Set(rows.map(({ id }) => id)));
  expect(receiver.received).toHaveLength(1_000);
  for (const { raw, headers } of receiver.received) verifyWebhook(raw, headers, endpoint.secret);
  const bursts = new Set(rows.map(({ burst_id }) => burst_id));
  expect(bursts.size).toBeLessThanOrEqual(8);

  const [first] = rows;
  expect(first).toMatchObject({ attempts: 1, response_status: 204, error_message: null, in_run: false });
  const { body } = await service.call(
    workspace.key,
    'GET',
    `/api/workspaces/${workspace.id}/webhooks/deliveries/${first?.id}`,
  );
  expect(body.delivery.workflowId).toBe(burstWorkflowId(await burstOf(service, workspace)));
  expect(body.delivery.attemptLog).toMatchObject([{ number: 1, responseStatus: 204, errorMessage: null }]);
  expect(await operator.closed(body.delivery.workflowId)).toBe('COMPLETED');
  await receiver.close();
});

// contract.md D22
it('what fails in a burst is tried again 30 seconds later, whichever way it goes then, or given up at once', async () => {
  const { workspace, receiver, endpoint } = await subscribe(service);
  const failing = new Set<string>();
  const tried = new Set<string>();
  receiver.answer = ({ headers, body }) => {
    const number = Number(String(body.data.title).slice('Article '.length));
    if (number % 100 === 1) return 410;
    const id = headers['x-service-delivery'] ?? '';
    if (number % 100 !== 2 || tried.has(id)) return 204;
    tried.add(id);
    failing.add(id);
    return 503;
  };
  await emitTogether(service, workspace, 400);
  await untilReceived(receiver, 400);
  const rows = await untilAll(service, workspace, ({ attempts }) => attempts > 0);
  const given = rows.filter(({ response_status }) => response_status === 410);
  expect(given).toHaveLength(4);
  expect(given[0]).toMatchObject({
    status: 'failed',
    attempts: 1,
    error_message: 'The receiver responded with 410.',
  });
  expect(given.every((row) => row.ended_at !== null)).toBe(true);

  const retried = rows.filter(({ id }) => failing.has(id));
  expect(retried).toHaveLength(4);
  expect(retried[0]).toMatchObject({ status: 'failed', attempts: 1, response_status: 503, ended_at: null });
  for (const { id, due_at } of retried) {
    const first = receiver.received.find(({ headers }) => headers['x-service-delivery'] === id);
    const wait = (due_at?.getTime() ?? 0) - (first?.at ?? 0);
    expect(wait).toBeGreaterThanOrEqual(29_900);
    expect(wait).toBeLessThan(40_000);
  }
  // All but the last three seconds of the wait are over.
  await sql`UPDATE webhook_open SET due_at = due_at - interval '27 seconds'
    WHERE endpoint_id = ${endpoint.id}`.execute(service.db);
  const soon = await rowsOf(service, workspace);
  await untilReceived(receiver, 404);
  for (const { id } of retried) {
    const [one, two] = receiver.received.filter(({ headers }) => headers['x-service-delivery'] === id);
    const due = soon.find((row) => row.id === id)?.due_at?.getTime() ?? 0;
    expect(two?.at).toBeGreaterThanOrEqual(due);
    expect(one?.headers['x-service-signature']).not.toBe(two?.headers['x-service-signature']);
  }
  const all = await untilAll(service, workspace, ({ ended_at }) => ended_at !== null);
  const after = all.filter(({ id }) => failing.has(id));
  expect(after.map(({ status, attempts }) => [status, attempts])).toEqual(after.map(() => ['succeeded', 2]));
  await receiver.close();
});

it('a receiver that hangs has at most 20 requests in flight, which hold up no other receiver', async () => {
  const hanging = await subscribe(service);
  const healthy = await subscribe(service);
  hanging.receiver.answer = () => new Promise<number>(() => undefined);
  await emitTogether(service, hanging.workspace, 600);
  await untilReceived(hanging.receiver, 10);
  await emitTogether(service, healthy.workspace, 600);
  await untilReceived(healthy.receiver, 600, 15_000);
  await untilAll(service, healthy.workspace, ({ status }) => status === 'succeeded');
  expect(hanging.receiver.received.length).toBeLessThanOrEqual(20);

  const path = `/api/workspaces/${hanging.workspace.id}/webhooks/${hanging.endpoint.id}`;
  expect((await service.call(hanging.workspace.key, 'DELETE', path)).status).toBe(200);
  await hanging.receiver.close();
  await healthy.receiver.close();
});

it('nothing is sent after the deletion of an endpoint returned, except by what had begun', async () => {
  const { workspace, receiver, endpoint } = await subscribe(service);
  // Every fifth fails, so that there are never more than twenty open at once.
  receiver.answer = () => {
    const status = receiver.received.length % 5 === 0 ? 503 : 204;
    return new Promise((resolve) => setTimeout(() => resolve(status), 30));
  };
  await emitTogether(service, workspace, 2_000);
  await untilReceived(receiver, 50);
  const { status } = await service.call(
    workspace.key,
    'DELETE',
    `/api/workspaces/${workspace.id}/webhooks/${endpoint.id}`,
  );
  const sent = receiver.received.length;
  expect(status).toBe(200);
  expect(sent).toBeLessThan(2_000);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(receiver.received.length - sent).toBeLessThanOrEqual(20);
  await receiver.close();
});

it('what waits for an endpoint that is disabled in mid-burst ends as failed, its attempts unchanged', async () => {
  const { workspace, receiver, endpoint } = await subscribe(service);
  receiver.answer = () => new Promise((resolve) => setTimeout(() => resolve(204), 20));
  await emitTogether(service, workspace, 1_000);
  await untilReceived(receiver, 50);
  await service.db
    .updateTable('webhook_endpoints')
    .set({ active: false })
    .where('id', '=', endpoint.id)
    .execute();
  const rows = await untilAll(service, workspace, ({ ended_at }) => ended_at !== null, 60_000);
  const unsent = rows.filter(({ status }) => status === 'failed');
  expect(unsent.length).toBeGreaterThan(0);
  expect(new Set(unsent.map((row) => `${row.attempts} ${row.error_message}`))).toEqual(
    new Set(['0 endpoint disabled']),
  );
  expect(receiver.received).toHaveLength(1_000 - unsent.length);
  await receiver.close();
});

it('a backlog of an endpoint that was disabled ends without a single connection to it', async () => {
  const { workspace, receiver, endpoint } = await subscribe(service);
  await receiver.close();
  let connections = 0;
  const trap = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => trap.listen(Number(new URL(receiver.url).port), '127.0.0.1', resolve));
  await inTransaction(service.db, async (tx) => {
    await recordEvents(tx, workspace.context, articleEvents(400));
    await tx.updateTable('webhook_endpoints').set({ active: false }).where('id', '=', endpoint.id).execute();
  });
  const rows = await untilAll(service, workspace, ({ ended_at }) => ended_at !== null);
  expect(new Set(rows.map((row) => `${row.attempts} ${row.error_message}`))).toEqual(
    new Set(['0 endpoint disabled']),
  );
  expect(connections).toBe(0);
  await new Promise((resolve) => trap.close(resolve));
});

it('with WEBHOOK_RUNS_PER_SECOND 0 no delivery gets a run of its own', async () => {
  const apart = await startTestService();
  await apart.startWorker({}, { WEBHOOK_RUNS_PER_SECOND: '0' });
  const { workspace, receiver } = await subscribe(apart);
  await emit(apart, workspace);
  const [row] = await untilAll(apart, workspace, ({ status }) => status === 'succeeded');
  expect(row).toMatchObject({ in_run: false, burst_id: expect.any(String) });
  await apart.stop();
  await receiver.close();
});

// contract.md D23
it('retries that come back together and meet a receiver that hangs have at most 20 requests in flight', async () => {
  const { workspace, receiver, endpoint } = await subscribe(service);
  receiver.answer = () => 503;
  await emitTogether(service, workspace, 600);
  await untilReceived(receiver, 600);
  await untilAll(service, workspace, ({ attempts }) => attempts === 1);
  receiver.answer = () => new Promise<number>(() => undefined);
  const sent = receiver.received.length;
  await service.db
    .updateTable('webhook_open')
    .set({ due_at: new Date() })
    .where('endpoint_id', '=', endpoint.id)
    .execute();
  await untilReceived(receiver, sent + 20);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  // Those in runs are counted by themselves: at most another 20, and here more are due than get runs.
  expect(receiver.received.length - sent).toBeLessThanOrEqual(20);
  const path = `/api/workspaces/${workspace.id}/webhooks/${endpoint.id}`;
  expect((await service.call(workspace.key, 'DELETE', path)).status).toBe(200);
  await receiver.close();
});
