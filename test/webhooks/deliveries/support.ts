import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeEach } from 'vitest';
import { type BurstId, type DeliveryId, type EndpointId, newId } from '../../../src/ids.ts';
import { beginAttempts } from '../../../src/webhooks/deliveries/begin.ts';
import type { RecordedAttempt } from '../../../src/webhooks/deliveries/record.ts';
import type { Holder } from '../../../src/webhooks/deliveries/states.ts';
import { claimDue, WALK_START } from '../../../src/webhooks/relay/claim.ts';
import { register } from '../../support/events.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { madeLater, type TestWorkspace, useTestService } from '../../support/service.ts';
import { storeDeliveries } from '../api/support/deliveries.ts';

export const IN_RUN: Holder = { kind: 'run' };
export const inBurst = (burstId: BurstId): Holder => ({ kind: 'burst', burstId });

/** The first of the claimed ones. */
export function first(ids: readonly DeliveryId[]): DeliveryId {
  const [id] = ids;
  if (id === undefined) throw new Error('nothing was claimed');
  return id;
}

/** What becomes of an attempt, as its sender records it. */
export const outcome = (
  deliveryId: DeliveryId,
  verdict: RecordedAttempt['verdict'],
  { number = 1, token = randomUUID() }: { number?: number; token?: string } = {},
): RecordedAttempt => ({
  deliveryId,
  number,
  token,
  startedAt: new Date().toISOString(),
  durationMs: 7,
  verdict,
  responseStatus: verdict === 'succeeded' ? 204 : 503,
  errorMessage: verdict === 'succeeded' ? null : 'The receiver responded with 503.',
  responseBody: null,
});

/** A service without a worker, for each test a workspace with one endpoint, and the steps that workers take. */
export function useDeliveries() {
  const service = useTestService();
  const receiver = madeLater<Receiver>('receiver');
  const workspace = madeLater<TestWorkspace>('workspace');
  const endpoint = madeLater<{ id: EndpointId }>('endpoint');
  beforeEach(async () => {
    const started = await startReceiver();
    receiver.set(started);
    const made = await service.workspace();
    workspace.set(made);
    endpoint.set(await register(service, made, started.url));
    return async () => {
      await sql`DELETE FROM webhook_open`.execute(service.db);
      await sql`DELETE FROM webhook_bursts`.execute(service.db);
      await started.close();
    };
  });
  const candidate = (room: number, endpointId = endpoint.it.id) =>
    ({ endpointId, dueFrom: '-infinity', room, isOnlyIfNew: false }) as const;
  const claim = (options: Partial<Parameters<typeof claimDue>[1]> = {}, db = service.db) =>
    claimDue(db, {
      candidates: [candidate(20)],
      isLook: false,
      walkFrom: null,
      limit: 500,
      tokens: 0,
      burstId: null,
      keyIds: service.config.SECRETS_KEYS.map(({ id }) => id),
      held: [],
      ...options,
    });
  return {
    ...{ service, receiver: receiver.it, workspace: workspace.it, endpoint: endpoint.it, candidate, claim },
    store: (count: number) =>
      storeDeliveries(service.db, workspace.it, endpoint.it.id, { count, state: 'pending' }),
    async openBurst(): Promise<BurstId> {
      const id = newId<BurstId>();
      await service.db.insertInto('webhook_bursts').values({ id }).execute();
      return id;
    },
    claimForBurst: async (burstId: BurstId, room = 20) =>
      (await claim({ burstId, candidates: [candidate(room)] })).deliveries.map(({ id }) => id),
    /** What a burst claims, it has begun. */
    async claimOne(burstId: BurstId) {
      const [delivery] = (await claim({ burstId })).deliveries;
      if (delivery?.token == null) throw new Error('nothing was claimed');
      return { id: delivery.id, token: delivery.token };
    },
    claimForRuns: async (tokens = 20) =>
      (await claim({ tokens, candidates: [], walkFrom: WALK_START })).deliveries.map(({ id }) => id),
    begin: async (holder: Holder, deliveryId: DeliveryId, number = 1, token: string = randomUUID()) => ({
      token,
      begun: (await beginAttempts(service.db, holder, [{ deliveryId, number, token }]))[0],
    }),
    open: (id: DeliveryId) =>
      service.db.selectFrom('webhook_open').selectAll().where('id', '=', id).executeTakeFirst(),
    logged: (id: DeliveryId) =>
      service.db.selectFrom('webhook_log').selectAll().where('id', '=', id).executeTakeFirst(),
  };
}
