import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import type { BurstId } from '../../../src/ids.ts';
import { burstWorkflowId } from '../../../src/temporal/ids.ts';
import { emitTogether } from '../../support/events.ts';
import { startProcess } from '../../support/processes.ts';
import { burstOf, untilReceived, useSubscriber } from '../../webhooks/relay/support.ts';
import { recordHistory } from './history.ts';

const { service, subscriber, operator } = useSubscriber();

/** Beside the histories of release 0.1. */
const recordBurst = (burstId: BurstId, scenario: string) =>
  recordHistory(burstWorkflowId(burstId), `deliverBurst/${scenario}-in-0.2`);
const emitBacklog = () => emitTogether(service, subscriber.workspace, 300);
const record = async (scenario: string) =>
  recordBurst(await burstOf(service, subscriber.workspace), scenario);

it('all succeed', async () => {
  await service.startWorker();
  await emitBacklog();
  await record('all-succeed');
});

it('mixed outcomes', async () => {
  await service.startWorker();
  subscriber.receiver.answer = () => [204, 204, 410, 503][subscriber.receiver.received.length % 4] ?? 204;
  await emitBacklog();
  await record('mixed-outcomes');
});

it('worker lost in the middle', async () => {
  const lost = await startProcess('worker.ts', service.env);
  subscriber.receiver.answer = () => sleep(100, 204);
  await emitBacklog();
  await untilReceived(subscriber.receiver, 20);
  const burstId = await burstOf(service, subscriber.workspace);
  lost.kill('SIGKILL');
  await lost.ended;
  await service.startWorker();
  await recordBurst(burstId, 'worker-lost');
});

it('cancelled by an operator', async () => {
  await service.startWorker();
  subscriber.receiver.answer = () => new Promise<number>(() => undefined);
  await emitBacklog();
  await untilReceived(subscriber.receiver, 15);
  const burstId = await burstOf(service, subscriber.workspace);
  await operator.client.workflow.getHandle(burstWorkflowId(burstId)).cancel();
  await recordBurst(burstId, 'cancelled');
});

it('cancelled by an operator after its worker was lost', async () => {
  const lost = await startProcess('worker.ts', service.env);
  subscriber.receiver.answer = () => sleep(200, 204);
  await emitBacklog();
  await untilReceived(subscriber.receiver, 15);
  const burstId = await burstOf(service, subscriber.workspace);
  lost.kill('SIGKILL');
  await lost.ended;
  await operator.client.workflow.getHandle(burstWorkflowId(burstId)).cancel();
  await service.startWorker();
  await recordBurst(burstId, 'cancelled-after-worker-lost');
});
