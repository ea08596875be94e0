import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { DeliveryId } from '../../../src/ids.ts';
import { deliveryWorkflowId } from '../../../src/temporal/ids.ts';
import { emitSingle, register, untilDelivery } from '../../support/events.ts';
import { startProcess } from '../../support/processes.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestService, type TestService, type TestWorkspace } from '../../support/service.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { connectOperator, type Operator } from '../../support/temporal.ts';
import { eventually } from '../../support/wait.ts';
import { recordHistory } from './history.ts';

let service: TestService;
let operator: Operator;
let postgres: TcpProxy;
let receiver: Receiver;
let workspace: TestWorkspace;
let endpointId: string;

beforeAll(async () => {
  service = await startTestService();
  operator = await connectOperator();
  const url = new URL(service.config.DATABASE_URL);
  postgres = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = postgres.address;
  await service.startWorker({}, { DATABASE_URL: url.href });
});
afterAll(async () => {
  await operator.close();
  await service.stop();
  await postgres.close();
});
beforeEach(async () => {
  receiver = await startReceiver();
  workspace = await service.workspace();
  endpointId = (await register(service, workspace, receiver.url)).id;
  return () => receiver.close();
});

const emitOne = () => emitSingle(service, workspace);
const record = (id: DeliveryId, scenario: string) =>
  recordHistory(deliveryWorkflowId(id), `deliverWebhook/${scenario}`);
const untilAttempts = (id: DeliveryId, attempts: number) =>
  untilDelivery(service, id, (delivery) => delivery.attempts >= attempts);

it('success', async () => {
  await record(await emitOne(), 'success');
});

it('success at the third attempt', async () => {
  receiver.answer = () => (receiver.received.length < 3 ? 503 : 204);
  const id = await emitOne();
  await untilAttempts(id, 1);
  await operator.hurry(deliveryWorkflowId(id));
  await record(id, 'success-at-the-third-attempt');
});

it('404 at once', async () => {
  receiver.answer = () => 404;
  await record(await emitOne(), 'not-found');
});

it('six failures', async () => {
  receiver.answer = () => 503;
  const id = await emitOne();
  await untilAttempts(id, 1);
  await operator.hurry(deliveryWorkflowId(id));
  await record(id, 'six-failures');
});

it('endpoint deleted while waiting', async () => {
  receiver.answer = () => 503;
  const id = await emitOne();
  await untilAttempts(id, 1);
  await service.call(workspace.key, 'DELETE', `/api/workspaces/${workspace.id}/webhooks/${endpointId}`);
  await record(id, 'endpoint-deleted');
});

it('reset by an operator', async () => {
  receiver.answer = () => (receiver.received.length < 2 ? 503 : 204);
  const id = await emitOne();
  await untilAttempts(id, 1);
  await operator.reset(deliveryWorkflowId(id));
  await record(id, 'reset-by-an-operator');
});

it('outcome unrecorded, recorded later, and delivered at the next attempt', async () => {
  receiver.answer = async () => {
    if (receiver.received.length > 1) return 204;
    await postgres.cut();
    setTimeout(() => postgres.restore(), 2_000);
    return 503;
  };
  const id = await emitOne();
  await record(id, 'unrecorded-then-delivered');
  expect((await untilAttempts(id, 2)).status).toBe('succeeded');
});

it('held while the secret cannot be read', async () => {
  const set = (secret: string) =>
    service.db
      .updateTable('webhook_endpoints')
      .set({ secret })
      .where('workspace_id', '=', workspace.id)
      .execute();
  const { secret } = await service.db
    .selectFrom('webhook_endpoints')
    .select('secret')
    .where('workspace_id', '=', workspace.id)
    .executeTakeFirstOrThrow();
  await set(`${secret.slice(0, 20)}${secret.slice(22)}`);
  const id = await emitOne();
  await eventually(
    () =>
      operator.client.workflow
        .getHandle(deliveryWorkflowId(id))
        .fetchHistory()
        .catch(() => null),
    (history) => history?.events?.some(({ timerStartedEventAttributes: timer }) => timer != null) ?? false,
  );
  await set(secret);
  await record(id, 'held');
});

it('worker lost in mid-attempt', async () => {
  await service.stopWorkers();
  const lost = await startProcess('worker.ts', service.env);
  receiver.answer = () => new Promise<number>((resolve) => setTimeout(() => resolve(204), 5_000));
  const id = await emitOne();
  await eventually(
    async () => receiver.received.length,
    (count) => count === 1,
  );
  lost.kill('SIGKILL');
  await lost.ended;
  await service.startWorker();
  await eventually(
    () => operator.pendingActivity(deliveryWorkflowId(id)),
    (activity) => (activity?.attempt ?? 0) >= 2,
    60_000,
  );
  await operator.hurry(deliveryWorkflowId(id));
  await record(id, 'worker-lost');
});
