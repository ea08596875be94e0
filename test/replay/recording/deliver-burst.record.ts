import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, it } from 'vitest';
import type { BurstId } from '../../../src/ids.ts';
import { burstWorkflowId } from '../../../src/temporal/ids.ts';
import { emitTogether } from '../../support/events.ts';
import { startProcess } from '../../support/processes.ts';
import { connectOperator, type Operator } from '../../support/temporal.ts';
import { burstOf, serveOne, untilReceived } from '../../webhooks/relay/support.ts';
import { recordHistory } from './history.ts';

let operator: Operator;
let one: Awaited<ReturnType<typeof serveOne>>;
beforeAll(async () => {
  operator = await connectOperator();
});
afterAll(() => operator.close());
beforeEach(async ({ onTestFinished }) => {
  one = await serveOne(onTestFinished);
});

const recordBurst = (burstId: BurstId, scenario: string) =>
  recordHistory(burstWorkflowId(burstId), `deliverBurst/${scenario}`);
const emitBacklog = () => emitTogether(one.service, one.workspace, 300);
const record = async (scenario: string) => recordBurst(await burstOf(one.service, one.workspace), scenario);

it('all succeed', async () => {
  await one.service.startWorker();
  await emitBacklog();
  await record('all-succeed');
});

it('mixed outcomes', async () => {
  await one.service.startWorker();
  one.receiver.answer = () => [204, 204, 410, 503][one.receiver.received.length % 4] ?? 204;
  await emitBacklog();
  await record('mixed-outcomes');
});

it('worker lost in the middle', async () => {
  const lost = await startProcess('worker.ts', one.service.env);
  one.receiver.answer = () => sleep(100, 204);
  await emitBacklog();
  await untilReceived(one.receiver, 20);
  const burstId = await burstOf(one.service, one.workspace);
  lost.kill('SIGKILL');
  await lost.ended;
  await one.service.startWorker();
  await recordBurst(burstId, 'worker-lost');
});

it('cancelled by an operator', async () => {
  await one.service.startWorker();
  one.receiver.answer = () => new Promise<number>(() => undefined);
  await emitBacklog();
  await untilReceived(one.receiver, 15);
  const burstId = await burstOf(one.service, one.workspace);
  await operator.client.workflow.getHandle(burstWorkflowId(burstId)).cancel();
  await recordBurst(burstId, 'cancelled');
});

it('cancelled by an operator after its worker was lost', async () => {
  const lost = await startProcess('worker.ts', one.service.env);
  one.receiver.answer = () => sleep(200, 204);
  await emitBacklog();
  await untilReceived(one.receiver, 15);
  const burstId = await burstOf(one.service, one.workspace);
  lost.kill('SIGKILL');
  await lost.ended;
  await operator.client.workflow.getHandle(burstWorkflowId(burstId)).cancel();
  await one.service.startWorker();
  await recordBurst(burstId, 'cancelled-after-worker-lost');
});
