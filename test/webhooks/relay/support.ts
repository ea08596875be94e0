import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { BurstId, EndpointId, WorkspaceId } from '../../../src/ids.ts';
import { type DeliveryRow, register, rowsOf } from '../../support/events.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { madeLater, startTestService, type TestService, type TestWorkspace } from '../../support/service.ts';
import { connectOperator, type Operator } from '../../support/temporal.ts';
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

/** What a file about bursts needs: an operator, and for each test a service of its own with one subscriber. */
export function useSubscriber() {
  const service = madeLater<TestService>('service');
  const subscriber = madeLater<Subscriber>('subscriber');
  const operator = madeLater<Operator>('operator');
  beforeAll(async () => operator.set(await connectOperator()));
  afterAll(() => operator.it.close());
  beforeEach(async () => {
    const own = await startTestService();
    service.set(own);
    const one = await subscribe(own);
    subscriber.set(one);
    return async () => {
      await one.receiver.close();
      await own.stop();
    };
  });
  return { service: service.it, subscriber: subscriber.it, operator: operator.it };
}

/** The workspace's deliveries once all of them satisfy the condition. */
export const untilAll = (
  service: TestService,
  workspace: { id: WorkspaceId },
  condition: (row: DeliveryRow) => boolean,
  timeoutMs?: number,
) =>
  eventually(
    () => rowsOf(service, workspace),
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
