import { sql } from 'kysely';
import type { TestContext } from 'vitest';
import type { BurstId, DeliveryId, EndpointId, WorkspaceId } from '../../../src/ids.ts';
import { type DeliveryRow, register, rowsOf } from '../../support/events.ts';
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
export async function untilAll(
  service: TestService,
  workspace: { id: WorkspaceId },
  condition: (row: DeliveryRow) => boolean,
  timeoutMs?: number,
): Promise<DeliveryRow[]> {
  let rows: DeliveryRow[] = [];
  /** One that does not satisfy it. All are much to read, so they are read again once its row has changed. */
  let left: { readonly id: DeliveryId; readonly version: string | null | undefined } | undefined;
  return eventually(
    async () => {
      const version = left && (await openVersionOf(service, left.id));
      if (left !== undefined && version === left.version) return rows;
      rows = await rowsOf(service, workspace);
      const next = rows.find((row) => !condition(row));
      const isSame = next !== undefined && next.id === left?.id;
      left = next && { id: next.id, version: isSame ? version : undefined };
      return rows;
    },
    () => left === undefined,
    timeoutMs,
  );
}

/** Another one after each change of an open delivery; null when it is not open. */
async function openVersionOf({ db }: TestService, id: DeliveryId): Promise<string | null> {
  const { rows } = await sql<{ version: string }>`
    SELECT xmin::text AS version FROM webhook_open WHERE id = ${id}`.execute(db);
  return rows[0]?.version ?? null;
}

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
