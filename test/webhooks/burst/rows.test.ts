import { beforeEach, describe, expect, it } from 'vitest';
import { type BurstId, type DeliveryId, type EndpointId, newId } from '../../../src/ids.ts';
import {
  type DeliveryOutcome,
  endAbandonedDelivery,
  recordAttempt,
  recordAttempts,
} from '../../../src/webhooks/attempts/record.ts';
import { createBatcher } from '../../../src/webhooks/burst/batcher.ts';
import { beginAttempts } from '../../../src/webhooks/burst/begin.ts';
import { claimBurst } from '../../../src/webhooks/burst/claim.ts';
import { handBack } from '../../../src/webhooks/burst/hand-back.ts';
import { deleteEndpoint } from '../../../src/webhooks/endpoints/delete.ts';
import { isBacklog, measureBacklog } from '../../../src/webhooks/outbox/backlog.ts';
import { backOff, claimDeliveries, markHandedOver } from '../../../src/webhooks/outbox/claim.ts';
import { whileClaiming } from '../../../src/webhooks/outbox/limits.ts';
import { emitTogether, register } from '../../support/events.ts';
import { type TestWorkspace, useTestService } from '../../support/service.ts';
import { rowsOf } from './support.ts';

const service = useTestService();

let workspace: TestWorkspace;
let endpointId: EndpointId;

beforeEach(async () => {
  workspace = await service.workspace();
  endpointId = (await register(service, workspace, 'http://127.0.0.1:9/hooks')).id;
  return () => remove(endpointId).catch(() => undefined);
});

/** No delivery here has a run of its own that could be cancelled. */
const remove = (id: EndpointId) =>
  deleteEndpoint({ ...workspace.context, runCanceller: { cancel: () => undefined } }, id);
const emit = (count: number) => emitTogether(service, workspace, count);
const singles = () => whileClaiming(service.db, (tx) => claimDeliveries(tx));
const burst = (burstId: BurstId, most = 200, limit = 200) =>
  claimBurst(service.db, burstId, { most, without: [], limits: new Map([[endpointId, limit]]) });
const idsOf = (rows: readonly { id: DeliveryId }[]) => rows.map(({ id }) => id);
const outcome = (
  deliveryId: DeliveryId,
  verdict: 'succeeded' | 'retry',
  startedAt = new Date(),
): DeliveryOutcome => ({
  deliveryId,
  outcome: {
    number: 1,
    startedAt: startedAt.toISOString(),
    durationMs: 7,
    verdict,
    responseStatus: verdict === 'succeeded' ? 204 : 503,
    errorMessage: verdict === 'succeeded' ? null : 'The receiver answered 503.',
    responseBody: null,
  },
});

it('what a relay has leased is never taken by a burst, not even after its start failed or its relay was lost', async () => {
  await emit(20);
  const leased = idsOf(await singles());
  expect(leased.length).toBeGreaterThan(0);
  await backOff(service.db, leased);
  const taken = idsOf(await burst(newId<BurstId>()));
  expect(taken).toHaveLength(20 - leased.length);
  expect(taken.filter((id) => leased.includes(id))).toEqual([]);
  expect((await measureBacklog(service.db, 100)).count).toBe(0);

  // Relays get them again once their wait is over, beside bursts too.
  const lostRelay = await service.db
    .updateTable('webhook_deliveries')
    .set({ claimed_until: new Date(Date.now() - 1), start_not_before: null })
    .where('id', 'in', leased)
    .executeTakeFirst();
  expect(lostRelay.numUpdatedRows).toBe(BigInt(leased.length));
  const again = await whileClaiming(service.db, (tx) => claimDeliveries(tx, { beside: 'bursts' }));
  expect(new Set(idsOf(again))).toEqual(new Set(leased));
});

it('runs of their own and bursts together open at most 20 first attempts of an endpoint, whoever claims first', async () => {
  await emit(200);
  const own = idsOf(await singles());
  await markHandedOver(service.db, own.slice(0, 2));
  const first = await burst(newId<BurstId>());
  expect(first.length).toBeGreaterThan(0);
  // Ten of the burst and those in runs of their own leave no room for another ten.
  expect(await burst(newId<BurstId>())).toEqual([]);
  expect(await singles()).toEqual([]);
});

it('two bursts that claim at once share an endpoint, a third finds no room, and no delivery is taken twice', async () => {
  await emit(100);
  const claims = await Promise.all([1, 2, 3, 4].map(() => burst(newId<BurstId>(), 30, 30)));
  expect(claims.map(({ length }) => length).sort()).toEqual([0, 0, 30, 30]);
  const ids = claims.flatMap(idsOf);
  expect(new Set(ids).size).toBe(ids.length);
});

it('only what is still the burst’s begins, and what was handed back is taken', async () => {
  await emit(3);
  const burstId = newId<BurstId>();
  const ids = idsOf(await burst(burstId));
  const [one, two] = ids;
  if (one === undefined || two === undefined) throw new Error('nothing was claimed');
  await handBack(service.db, burstId, [two]);
  const kinds = (await beginAttempts(service.db, burstId, ids)).map(({ kind }) => kind);
  expect(kinds).toEqual(['begun', 'taken', 'begun']);
  expect((await beginAttempts(service.db, newId<BurstId>(), [one])).map(({ kind }) => kind)).toEqual([
    'taken',
  ]);
});

it('an outcome that comes after a newer one, or after the end, changes nothing; the first attempt of a run leaves no burst behind', async () => {
  await emit(2);
  const burstId = newId<BurstId>();
  const [one, two] = idsOf(await burst(burstId));
  if (one === undefined || two === undefined) throw new Error('nothing was claimed');
  await recordAttempts(service.db, [outcome(one, 'retry'), outcome(two, 'succeeded')], 'outbox');
  await recordAttempts(service.db, [outcome(one, 'succeeded'), outcome(two, 'retry')], 'outbox');
  const rows = await rowsOf(service, workspace);
  expect(rows.map(({ status, attempts, outbox, burst_id }) => [status, attempts, outbox, burst_id])).toEqual([
    ['failed', 1, true, null],
    ['succeeded', 1, false, burstId],
  ]);

  await emit(1);
  const [three] = idsOf(await burst(burstId));
  if (three === undefined) throw new Error('nothing was claimed');
  await recordAttempt(service.db, three, outcome(three, 'retry').outcome);
  expect((await rowsOf(service, workspace))[2]).toMatchObject({ burst_id: null, attempts: 1, outbox: false });
});

it('what a closed burst has put back into the outbox meanwhile is not ended by whoever saw it in the burst', async () => {
  await emit(2);
  const burstId = newId<BurstId>();
  const [back, left] = idsOf(await burst(burstId));
  if (back === undefined || left === undefined) throw new Error('nothing was claimed');
  await handBack(service.db, burstId, [back]);
  expect(await endAbandonedDelivery(service.db, back, burstId, 'stopped by an operator')).toBe(false);
  expect(await endAbandonedDelivery(service.db, left, null, 'stopped by an operator')).toBe(false);
  expect(await endAbandonedDelivery(service.db, left, burstId, 'stopped by an operator')).toBe(true);
});

it('an endpoint is deleted while bursts claim, begin, record and hand back, without a deadlock on either side', async () => {
  const endpoints = [endpointId];
  for (let more = 0; more < 7; more += 1) {
    endpoints.push((await register(service, workspace, 'http://127.0.0.1:9/hooks')).id);
  }
  await emit(400);
  let done = false;
  const sendAll = async () => {
    let begun = 0;
    while (!done) {
      const burstId = newId<BurstId>();
      const ids = idsOf(await claimBurst(service.db, burstId, { most: 200, without: [], limits: new Map() }));
      const beginnings = await beginAttempts(service.db, burstId, ids);
      const sent = ids.filter((_, index) => beginnings[index]?.kind === 'begun');
      begun += sent.length;
      await recordAttempts(
        service.db,
        sent.slice(0, sent.length / 2).map((id) => outcome(id, 'succeeded')),
        'outbox',
      );
      await handBack(service.db, burstId, 'all');
    }
    return begun;
  };
  const senders = [sendAll(), sendAll(), sendAll()];
  const startedAt = performance.now();
  for (const id of endpoints) await remove(id);
  const tookMs = performance.now() - startedAt;
  done = true;
  expect((await Promise.all(senders)).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  expect(await rowsOf(service, workspace)).toEqual([]);
  // Postgres ends a deadlock after a second; eight deletions that met one each would take eight.
  expect(tookMs).toBeLessThan(8_000);
});

it('calls made while a batch is under way make up the next one, and each gets its own answer or the batch’s error', async () => {
  const batches: number[][] = [];
  const double = createBatcher(async (items: readonly number[]) => {
    batches.push([...items]);
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (items.includes(13)) throw new Error('unlucky');
    return items.map((item) => item * 2);
  }, 3);
  const first = double(1);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const others = [2, 3, 4, 5].map((item) => double(item));
  expect(await Promise.all([first, ...others])).toEqual([2, 4, 6, 8, 10]);
  expect(batches).toEqual([[1], [2, 3, 4], [5]]);
  await expect(Promise.all([double(12), double(13)])).rejects.toThrow('unlucky');
  expect(await double(1)).toBe(2);
});

describe('a backlog', () => {
  const waiting = (count: number, oldestSeconds: number) => ({ count, oldestSeconds });

  it('is the threshold, or a tenth of it that is late', () => {
    expect(isBacklog(waiting(200, 0), 200, false)).toBe(true);
    expect(isBacklog(waiting(199, 0.1), 200, false)).toBe(false);
    expect(isBacklog(waiting(20, 0.3), 200, false)).toBe(true);
    expect(isBacklog(waiting(19, 60), 200, false)).toBe(false);
  });

  it('lasts while bursts find anything', () => {
    expect(isBacklog(waiting(1, 0), 200, true)).toBe(true);
    expect(isBacklog(waiting(0, 0), 200, true)).toBe(false);
  });

  it('is never seen with a threshold of 0', () => {
    expect(isBacklog(waiting(10_000, 60), 0, true)).toBe(false);
  });
});
