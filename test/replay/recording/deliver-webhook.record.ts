import { afterAll, beforeAll, beforeEach, it } from 'vitest';
import { deliveryWorkflowId } from '../../../src/temporal/ids.ts';
import { emit, register, untilDelivery } from '../../support/events.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestService, type TestService, type TestWorkspace } from '../../support/service.ts';
import { recordHistory } from './history.ts';

let service: TestService;
let receiver: Receiver;
let workspace: TestWorkspace;
let endpointId: string;

beforeAll(async () => {
  service = await startTestService();
  await service.startWorker();
});
afterAll(() => service.stop());
beforeEach(async () => {
  receiver = await startReceiver();
  workspace = await service.workspace();
  endpointId = (await register(service, workspace, receiver.url)).id;
  return () => receiver.close();
});

it('success', async () => {
  for (const id of await emit(service, workspace)) {
    await recordHistory(deliveryWorkflowId(id), 'deliverWebhook/success');
  }
});

it('404 at once', async () => {
  receiver.answer = () => 404;
  for (const id of await emit(service, workspace)) {
    await recordHistory(deliveryWorkflowId(id), 'deliverWebhook/not-found');
  }
});

it('endpoint deleted while waiting', async () => {
  receiver.answer = () => 503;
  for (const id of await emit(service, workspace)) {
    await untilDelivery(service, id, (delivery) => delivery.attempts === 1);
    await service.call(workspace.key, 'DELETE', `/api/workspaces/${workspace.id}/webhooks/${endpointId}`);
    await recordHistory(deliveryWorkflowId(id), 'deliverWebhook/endpoint-deleted');
  }
});
