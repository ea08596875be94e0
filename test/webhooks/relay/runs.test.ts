import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import type { DeliveryId, EndpointId } from '../../../src/ids.ts';
import { deliveryWorkflowId } from '../../../src/temporal/ids.ts';
import { verifyWebhook } from '../../../src/webhooks/verify.ts';
import { emitSingle, makeDue, register, untilDelivery } from '../../support/events.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { type TestWorkspace, useTestService, WITH_SCHEDULES } from '../../support/service.ts';
import { reconcileNow } from '../../support/temporal.ts';
import { eventually } from '../../support/wait.ts';

const service = useTestService();

let connection: Connection;
let client: Client;
let receiver: Receiver;
let workspace: TestWorkspace;
let endpoint: { id: EndpointId; secret: string };

beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
  client = new Client({ connection });
  await service.startWorker(WITH_SCHEDULES);
});
afterAll(async () => {
  await connection.close();
});
beforeEach(async () => {
  receiver = await startReceiver();
  workspace = await service.workspace();
  endpoint = await register(service, workspace, receiver.url);
  return () => receiver.close();
});

const emitOne = () => emitSingle(service, workspace);
const describeRun = (id: DeliveryId) => client.workflow.getHandle(deliveryWorkflowId(id)).describe();

// contract.md D6
it('sends the stored bytes once, signed over exactly them, and records the success', async () => {
  const id = await emitOne();
  const row = await untilDelivery(service, id, (delivery) => delivery.status !== 'pending');
  expect(row).toMatchObject({
    status: 'succeeded',
    attempts: 1,
    response_status: 204,
    error_message: null,
    due_at: null,
  });
  expect(row.delivered_at).not.toBeNull();
  expect(receiver.received).toHaveLength(1);
  const [request] = receiver.received;
  if (request === undefined) throw new Error('nothing received');
  const event = await service.db
    .selectFrom('events')
    .select('body')
    .where('id', '=', row.event_id)
    .executeTakeFirstOrThrow();
  expect(request.raw.equals(event.body)).toBe(true);
  expect(request.headers).toMatchObject({
    'content-type': 'application/json',
    'x-service-event': 'article.created',
    'x-service-delivery': id,
    'x-service-timestamp': expect.stringMatching(/^\d+$/),
  });
  expect(verifyWebhook(request.raw, request.headers, endpoint.secret)).toMatchObject({ deliveryId: id });
  const run = await eventually(
    () => describeRun(id),
    (description) => description.status.name !== 'RUNNING',
  );
  expect(run.status.name).toBe('COMPLETED');
});

// contract.md D10
it.each([400, 404, 410, 301])(
  'does not retry a %i: failed after one attempt, and a FAILED run',
  async (status) => {
    receiver.answer = () => status;
    const id = await emitOne();
    const row = await untilDelivery(service, id, (delivery) => delivery.ended_at !== null);
    expect(row).toMatchObject({ status: 'failed', attempts: 1, response_status: status, delivered_at: null });
    expect(row.error_message).toContain(String(status));
    const run = await eventually(
      () => describeRun(id),
      (description) => description.status.name !== 'RUNNING',
    );
    expect(run.status.name).toBe('FAILED');
    expect(receiver.received).toHaveLength(1);
  },
);

// contract.md D8
it('schedules the retries of a 503 by the policy 30 s, doubled up to 8 min, six attempts, read back from its history', async () => {
  receiver.answer = () => 503;
  const id = await emitOne();
  const row = await untilDelivery(service, id, (delivery) => delivery.attempts === 1);
  expect(row).toMatchObject({ status: 'failed', response_status: 503, ended_at: null, delivered_at: null });
  const wait = (row.due_at?.getTime() ?? 0) - (receiver.received[0]?.at ?? 0);
  expect(wait).toBeGreaterThan(29_900);
  expect(wait).toBeLessThan(45_000);

  const { events } = await client.workflow.getHandle(deliveryWorkflowId(id)).fetchHistory();
  const scheduled = events?.find((event) => event.activityTaskScheduledEventAttributes != null);
  const policy = scheduled?.activityTaskScheduledEventAttributes?.retryPolicy;
  expect(Number(policy?.initialInterval?.seconds)).toBe(30);
  expect(policy?.backoffCoefficient).toBe(2);
  expect(Number(policy?.maximumInterval?.seconds)).toBe(480);
  expect(policy?.maximumAttempts).toBe(6);
  const pending = (await describeRun(id)).raw.pendingActivities?.[0];
  expect(pending?.attempt).toBe(2);
});

it('is described in the Temporal UI by names: id, summary, search attributes, and no secret or path', async () => {
  const id = await emitOne();
  await untilDelivery(service, id, (delivery) => delivery.status === 'succeeded');
  const run = await describeRun(id);
  expect(run.workflowId).toBe(`webhook-delivery-${id}`);
  expect(await run.staticSummary()).toBe(`article.created → ${new URL(receiver.url).host}`);
  const history = JSON.stringify(await client.workflow.getHandle(run.workflowId).fetchHistory());
  expect(history).not.toContain(endpoint.secret);
  expect(history).not.toContain(Buffer.from(endpoint.secret).toString('base64').slice(4, 30));
});

it('sends nothing for an endpoint that was deleted, and ends the run', async () => {
  receiver.answer = () => 503;
  const id = await emitOne();
  await untilDelivery(service, id, (delivery) => delivery.attempts === 1);
  const path = `/api/workspaces/${workspace.id}/webhooks/${endpoint.id}`;
  expect((await service.call(workspace.key, 'DELETE', path)).body).toEqual({ ok: true });
  const run = await eventually(
    () => describeRun(id),
    (description) => description.status.name !== 'RUNNING',
  );
  expect(run.status.name).toBe('CANCELLED');
  expect(receiver.received).toHaveLength(1);
});

it('ends as failed, attempts unchanged, when an operator terminates its run: reconcile finds it', async () => {
  receiver.answer = () => 503;
  const id = await emitOne();
  await untilDelivery(service, id, (delivery) => delivery.attempts === 1);
  await client.workflow.getHandle(deliveryWorkflowId(id)).terminate('enough');
  await makeDue(service, id);
  await reconcileNow(client, service.config.TEMPORAL_TASK_QUEUE_PREFIX, 'deliveries');
  const row = await untilDelivery(service, id, (delivery) => delivery.ended_at !== null);
  expect(row).toMatchObject({ status: 'failed', attempts: 1, error_message: 'stopped by an operator' });
});
