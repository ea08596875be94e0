import type { TestContext } from 'vitest';
import type { BurstId, EndpointId, WorkspaceId } from '../../../src/ids.ts';
import { type DeliveryRow, openRowsOf, register, rowsOf } from '../../support/events.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestService, type TestService, type TestWorkspace } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

export interface Subscriber {
  readonly workspace: TestWorkspace;
  readonly receiver: Receiver;
  readonly endpoint: { id: EndpointId; secret: string };
}

/** A workspace with one endpoint, and that endpoint's receiver. */
export async function subscribe(service: TestService): Promise<Subscriber> {
  const workspace = await service.workspace();
  const receiver = await startReceiver();
  return { workspace, receiver, endpoint: await register(service, workspace, receiver.url) };
}

/** A service of one test alone, which may run beside others, with one subscriber; both end with the test. */
export async function serveOne(
  onEnd: TestContext['onTestFinished'],
): Promise<Subscriber & { readonly service: TestService }> {
  const service = await startTestService();
  onEnd(() => service.stop());
  const subscriber = await subscribe(service);
  onEnd(() => subscriber.receiver.close());
  return { service, ...subscriber };
}

/** The workspace's deliveries once all of them satisfy the condition. */
export const untilAll = (
  service: TestService,
  workspace: { id: WorkspaceId },
  condition: (row: DeliveryRow) => boolean,
  timeoutMs?: number,
) =>
  eventually(
    async () => {
      // The log is much to plan for and to read, and open ones are looked at again and again.
      const open = await openRowsOf(service, workspace);
      return open.every(condition) ? rowsOf(service, workspace) : open;
    },
    (rows) => rows.every(condition),
    timeoutMs,
  );

export const untilReceived = (receiver: Receiver, count: number, timeoutMs?: number) =>
  eventually(
    async () => receiver.received.length,
    (length) => length >= count,
    timeoutMs,
  );

/** The burst that has deliveries of the workspace at this moment, or had. */
export async function burstOf(service: TestService, workspace: { id: WorkspaceId }): Promise<BurstId> {
  const rows = await eventually(
    () => rowsOf(service, workspace),
    (all) => all.some((row) => row.burst_id !== null),
  );
  const burstId = rows.find((row) => row.burst_id !== null)?.burst_id;
  if (!burstId) throw new Error('no burst');
  return burstId;
}

export const deliveryIds = (receiver: Receiver): string[] =>
  receiver.received.map(({ headers }) => headers['x-service-delivery'] ?? '');
