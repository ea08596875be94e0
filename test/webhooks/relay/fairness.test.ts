import { beforeAll, expect, it } from 'vitest';
import { emit, emitTogether, register } from '../../support/events.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { type TestWorkspace, useTestService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

const service = useTestService();

beforeAll(async () => {
  await service.startWorker();
});

/** A workspace with one endpoint, and that endpoint's receiver. */
async function subscriber(): Promise<{ workspace: TestWorkspace; receiver: Receiver }> {
  const workspace = await service.workspace();
  const receiver = await startReceiver();
  await register(service, workspace, receiver.url);
  return { workspace, receiver };
}

/** Milliseconds until the receiver has got so many in all. */
async function timeToReceive(receiver: Receiver, count: number): Promise<number> {
  const startedAt = performance.now();
  await eventually(
    async () => receiver.received.length,
    (length) => length >= count,
  );
  return performance.now() - startedAt;
}

// contract.md D15
it('an endpoint that hangs on each of 200 deliveries has at most 20 first attempts open and delays no other', async () => {
  const hanging = await subscriber();
  const healthy = await subscriber();
  hanging.receiver.answer = () => new Promise<number>(() => undefined);
  await emitTogether(service, hanging.workspace, 200);
  await timeToReceive(hanging.receiver, 20);
  for (let index = 0; index < 20; index += 1) await emit(service, healthy.workspace);
  expect(await timeToReceive(healthy.receiver, 20)).toBeLessThan(10_000);
  expect(hanging.receiver.received).toHaveLength(20);
  await hanging.receiver.close();
  await healthy.receiver.close();
});

it("a backlog of 2,000 deliveries of one workspace does not delay another workspace's single event", async () => {
  const busy = await subscriber();
  const other = await subscriber();
  await emitTogether(service, busy.workspace, 2_000);
  await timeToReceive(busy.receiver, 20);
  await emit(service, other.workspace);
  expect(await timeToReceive(other.receiver, 1)).toBeLessThan(10_000);
  expect(busy.receiver.received.length).toBeLessThan(2_000);
  const path = `/api/workspaces/${busy.workspace.id}/webhooks`;
  const { body } = await service.call(busy.workspace.key, 'GET', path);
  expect((await service.call(busy.workspace.key, 'DELETE', `${path}/${body.endpoints[0].id}`)).status).toBe(
    200,
  );
  await busy.receiver.close();
  await other.receiver.close();
});
