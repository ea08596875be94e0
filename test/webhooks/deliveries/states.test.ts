import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createWebhookActivities } from '../../../activities/webhooks.ts';
import { type DeliveryId, type EventId, newId } from '../../../src/ids.ts';
import { createAddressGuard } from '../../../src/outbound/resolver.ts';
import { makeAttempt } from '../../../src/webhooks/attempts/attempt.ts';
import { beginAttempts } from '../../../src/webhooks/deliveries/begin.ts';
import { endInRun, endOne } from '../../../src/webhooks/deliveries/end.ts';
import { freeBurst } from '../../../src/webhooks/deliveries/free-burst.ts';
import { releaseSuspects } from '../../../src/webhooks/deliveries/lost.ts';
import { overdueRuns } from '../../../src/webhooks/deliveries/read-open.ts';
import { recordAttempts } from '../../../src/webhooks/deliveries/record.ts';
import type { Holder } from '../../../src/webhooks/deliveries/states.ts';
import { WALK_START } from '../../../src/webhooks/relay/claim.ts';
import { createSecretRing } from '../../../src/webhooks/secrets/ring.ts';
import { createWebhookSender } from '../../../src/webhooks/sending/sender.ts';
import { startPaces } from '../../support/paces.ts';
import { eventually } from '../../support/wait.ts';
import { first, IN_RUN, inBurst, outcome, useDeliveries } from './support.ts';

const {
  service,
  receiver,
  workspace,
  endpoint,
  claim,
  store,
  openBurst,
  claimForBurst,
  claimOne,
  claimForRuns,
  begin,
  open,
  logged,
} = useDeliveries();

describe('an attempt', () => {
  it('begins once for each number, again only under its own token, and only for who has the delivery', async () => {
    await store(1);
    const id = first(await claimForRuns());
    expect((await begin(inBurst(newId()), id)).begun).toEqual({ kind: 'superseded' });
    const { token, begun } = await begin(IN_RUN, id);
    expect(begun).toMatchObject({ kind: 'begun', stored: expect.stringMatching(/^v1:test:/) });
    expect((await begin(IN_RUN, id, 1, token)).begun).toMatchObject({ kind: 'begun' });
    expect((await begin(IN_RUN, id, 1)).begun).toEqual({ kind: 'superseded' });
    expect((await begin(IN_RUN, id, 2)).begun).toMatchObject({ kind: 'begun' });
    expect((await begin(IN_RUN, id, 1, token)).begun).toEqual({ kind: 'superseded' });
  });

  it('does not begin for an endpoint that was disabled or deleted, nor for a delivery that has ended', async () => {
    await store(1);
    const id = first(await claimForRuns());
    const set = (values: { active?: boolean; deleted_at?: Date | null }) =>
      service.db.updateTable('webhook_endpoints').set(values).where('id', '=', endpoint.id).execute();
    await set({ active: false });
    expect((await begin(IN_RUN, id)).begun).toEqual({ kind: 'stopped', reason: 'endpoint disabled' });
    await set({ active: true, deleted_at: new Date() });
    expect((await begin(IN_RUN, id)).begun).toEqual({ kind: 'stopped', reason: 'endpoint deleted' });
    await set({ deleted_at: null });
    expect(await endInRun(service.db, id, 'stopped by an operator')).toBe(true);
    expect((await begin(IN_RUN, id)).begun).toEqual({ kind: 'stopped', reason: 'delivery ended' });
    expect(await logged(id)).toMatchObject({ status: 'failed', error_message: 'stopped by an operator' });
  });

  it('with a 2xx response ends its delivery as succeeded, with every attempt in the log', async () => {
    await store(1);
    const id = first(await claimForRuns());
    const one = await begin(IN_RUN, id);
    await recordAttempts(service.db, [outcome(id, 'retry', one)]);
    expect(await open(id)).toMatchObject({
      status: 'failed',
      attempts: 1,
      response_status: 503,
      in_run: true,
    });
    const two = await begin(IN_RUN, id, 2);
    await recordAttempts(service.db, [outcome(id, 'succeeded', { number: 2, ...two })]);
    expect(await open(id)).toBeUndefined();
    const row = await logged(id);
    expect(row).toMatchObject({ status: 'succeeded', attempts: 2, error_message: null, in_run: true });
    expect(row?.delivered_at).toBeInstanceOf(Date);
    expect(row?.attempt_log.map(({ number, responseStatus }) => [number, responseStatus])).toEqual([
      [1, 503],
      [2, 204],
    ]);
  });

  it('that failed is recorded once, under the number and token it began with', async () => {
    await store(1);
    const burstId = await openBurst();
    const { id, token } = await claimOne(burstId);
    const failed = outcome(id, 'retry', { token });
    expect((await recordAttempts(service.db, [{ ...failed, token: randomUUID() }])).size).toBe(0);
    expect((await recordAttempts(service.db, [failed])).size).toBe(1);
    const row = await open(id);
    expect(row).toMatchObject({ burst_id: null, attempts: 1, status: 'failed' });
    const wait = (row?.due_at.getTime() ?? 0) - Date.now();
    expect(wait).toBeGreaterThan(20_000);
    expect(wait).toBeLessThanOrEqual(30_500);
    expect((await recordAttempts(service.db, [failed])).size).toBe(0);
    expect((await open(id))?.attempt_log).toHaveLength(1);
  });

  // contract.md D20
  it('that was delivered counts, whatever was written in between by a process that thought its worker lost', async () => {
    await store(1);
    const burstId = await openBurst();
    const { id, token } = await claimOne(burstId);
    await freeBurst(service.db, burstId);
    expect(await open(id)).toMatchObject({ attempts: 0, begun: 0, status: 'pending', losses: 1 });
    expect((await recordAttempts(service.db, [outcome(id, 'retry', { token })])).size).toBe(0);
    expect((await recordAttempts(service.db, [outcome(id, 'succeeded', { token })])).size).toBe(1);
    expect(await logged(id)).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  it('that reached no receiver is recorded by the holder of the delivery, and by no other', async () => {
    await store(1);
    const burstId = await openBurst();
    const { id, token } = await claimOne(burstId);
    const sender = createWebhookSender({
      guard: createAddressGuard({ allowedNetworks: service.config.WEBHOOK_ALLOWED_NETWORKS }),
    });
    const secrets = createSecretRing(service.config.SECRETS_KEYS);
    const request = {
      eventId: newId<EventId>(),
      deliveryId: id,
      endpointId: endpoint.id,
      eventType: 'article.created',
      url: 'http://127.0.0.1/',
      body: Buffer.from('{}'),
      traceparent: null,
    };
    const attempt = (holder: Holder) =>
      makeAttempt(
        { sender, secrets },
        request,
        1,
        async (start) => (await beginAttempts(service.db, holder, [start]))[0] ?? { kind: 'superseded' },
        token,
      );
    expect(await attempt(IN_RUN)).toEqual({ kind: 'superseded' });
    const made = await attempt(inBurst(burstId));
    if (made.kind !== 'made') throw new Error(made.kind);
    expect(made.record).toMatchObject({ verdict: 'retry', responseStatus: null });
    expect((await recordAttempts(service.db, [{ ...made.record, deliveryId: id }])).size).toBe(1);
    expect(await open(id)).toMatchObject({ burst_id: null, attempts: 1, status: 'failed' });
    await sender.close();
  });

  it('of a run that meets one that has begun sends nothing; the next one takes it back, and it is made again under its number', async () => {
    await store(1);
    const { deliveries } = await claim({ tokens: 20, candidates: [], walkFrom: WALK_START });
    const kept = [...deliveries];
    const [{ id } = { id: newId<DeliveryId>() }] = deliveries;
    await begin(IN_RUN, id);
    const { attemptDelivery } = createWebhookActivities({
      db: service.db,
      paces: startPaces(service.db),
      sender: createWebhookSender({
        guard: createAddressGuard({ allowedNetworks: service.config.WEBHOOK_ALLOWED_NETWORKS }),
      }),
      secrets: createSecretRing(service.config.SECRETS_KEYS),
      takeClaimed: () => kept.pop(),
      onUnreadable: () => undefined,
      onAttemptBegan: () => undefined,
      onAttemptEnded: () => undefined,
    });
    const attempt = () => new MockActivityEnvironment({ attempt: 1 }).run(attemptDelivery, id, 0);
    await expect(attempt()).rejects.toMatchObject({ type: 'AttemptSuperseded', nonRetryable: false });
    expect(await attempt()).toMatchObject({ kind: 'held', attempts: 0 });
    expect(await open(id)).toMatchObject({ in_run: true, attempts: 0, begun: 0, losses: 1, parked: true });
    expect(await attempt()).toMatchObject({ kind: 'held', attempts: 0 });
    expect(receiver.received).toEqual([]);
    await sql`UPDATE webhook_open SET due_at = now()`.execute(service.db);
    // A run looks for itself.
    expect(await releaseSuspects(service.db)).toEqual([]);
    expect(await attempt()).toEqual({ kind: 'recorded', number: 1 });
    expect(receiver.received).toHaveLength(1);
  });

  it('that is overdue in a run is found, also when its event was removed', async () => {
    await store(1);
    const id = first(await claimForRuns());
    await sql`UPDATE webhook_open SET due_at = now() - interval '1 minute'`.execute(service.db);
    await service.db.deleteFrom('events').where('workspace_id', '=', workspace.id).execute();
    const { value: overdue } = await overdueRuns(service.db, 0).next();
    expect(overdue).toMatchObject([{ id, articleId: null, requestId: null }]);
  });

  it('that was the sixth, or was refused for good, ends its delivery as failed', async () => {
    await store(2);
    const [sixth, refused] = await claimForRuns();
    if (sixth === undefined || refused === undefined) throw new Error('not claimed');
    const last = await begin(IN_RUN, sixth, 6);
    const once = await begin(IN_RUN, refused);
    await recordAttempts(service.db, [
      outcome(sixth, 'retry', { number: 6, ...last }),
      outcome(refused, 'failed', once),
    ]);
    expect(await logged(sixth)).toMatchObject({ status: 'failed', attempts: 6 });
    expect(await logged(refused)).toMatchObject({ status: 'failed', attempts: 1 });
  });
});

it('the next attempt keeps its wait when the clock of the worker was set forward during the last one', async () => {
  await store(1);
  const burstId = await openBurst();
  const { id, token } = await claimOne(burstId);
  const startedAt = new Date(Date.now() - 60_000).toISOString();
  const failed = { ...outcome(id, 'retry', { token }), startedAt, endedAt: performance.now() };
  await recordAttempts(service.db, [failed]);
  expect(((await open(id))?.due_at.getTime() ?? 0) - Date.now()).toBeGreaterThan(15_000);
});

it('a run whose last attempt has begun without an outcome ends with that attempt, unless an operator stopped it', async () => {
  await store(2);
  await sql`UPDATE webhook_open SET attempts = 5, begun = 5, status = 'failed', response_status = 503`.execute(
    service.db,
  );
  const [interrupted, stopped] = await claimForRuns();
  if (interrupted === undefined || stopped === undefined) throw new Error('not claimed');
  for (const id of [interrupted, stopped]) await begin(IN_RUN, id, 6);
  await endInRun(service.db, interrupted, 'The last attempt was interrupted and its outcome is unknown.');
  await endInRun(service.db, stopped, 'stopped by an operator');
  expect(await logged(interrupted)).toMatchObject({ attempts: 6, response_status: null });
  expect(await logged(stopped)).toMatchObject({ attempts: 5, response_status: 503 });
});

describe('a burst that is lost', () => {
  it('has spent no attempt of what it had, not even a sixth one, and returns it within 45 seconds', async () => {
    await store(2);
    const burstId = await openBurst();
    await sql`UPDATE webhook_open SET attempts = 5, begun = 5 WHERE id = (SELECT max(id::text)::uuid FROM webhook_open)`.execute(
      service.db,
    );
    const [one, sixth] = await claimForBurst(burstId);
    if (one === undefined || sixth === undefined) throw new Error('not claimed');
    expect(await freeBurst(service.db, burstId)).toBe(2);
    expect(await open(one)).toMatchObject({
      burst_id: null,
      attempts: 0,
      status: 'pending',
      losses: 1,
      parked: true,
    });
    const row = await open(sixth);
    expect(row).toMatchObject({ attempts: 5, begun: 5, losses: 1 });
    const wait = (row?.due_at.getTime() ?? 0) - Date.now();
    expect(wait).toBeLessThanOrEqual(45_000);
    expect(await freeBurst(service.db, burstId)).toBe(0);
  });

  it('leaves what its own process was never given as it was before the claim', async () => {
    await store(2);
    const burstId = await openBurst();
    const [given, lost] = await claimForBurst(burstId);
    if (given === undefined || lost === undefined) throw new Error('not claimed');
    const before = await open(lost);
    expect(await freeBurst(service.db, burstId, { given: new Set([given]), isClaimLost: true })).toBe(2);
    expect(await open(given)).toMatchObject({ burst_id: null, attempts: 0, losses: 1 });
    expect(await open(lost)).toMatchObject({
      burst_id: null,
      losses: 0,
      attempts: 0,
      begun: 0,
      status: 'pending',
      due_at: before?.due_at,
    });
    expect(await claimForRuns()).toEqual([lost]);
    expect((await begin(IN_RUN, lost)).begun).toMatchObject({ kind: 'begun' });
  });

  it('keeps nothing, not even what begins at the moment it is freed', async () => {
    await store(1);
    const burstId = await openBurst();
    const id = first(await claimForBurst(burstId));
    const freed = await service.db.transaction().execute(async (tx) => {
      await beginAttempts(tx as typeof service.db, inBurst(burstId), [
        { deliveryId: id, number: 2, token: randomUUID() },
      ]);
      const freeing = freeBurst(service.db, burstId);
      await eventually(
        () => sql`SELECT FROM pg_locks WHERE NOT granted`.execute(service.db),
        ({ rows }) => rows.length > 0,
      );
      return { freeing };
    });
    expect(await freed.freeing).toBe(1);
    expect(await open(id)).toMatchObject({ burst_id: null, attempts: 0, begun: 0, losses: 1 });
  });

  it('begins nothing more, as a worker that was frozen finds when it goes on', async () => {
    await store(1);
    const burstId = await openBurst();
    const { id, token } = await claimOne(burstId);
    expect((await begin(inBurst(burstId), id, 1, token)).begun).toMatchObject({ kind: 'begun' });
    await freeBurst(service.db, burstId);
    expect((await begin(inBurst(burstId), id, 1, token)).begun).toEqual({ kind: 'superseded' });
    await sql`UPDATE webhook_open SET due_at = now()`.execute(service.db);
    expect(await releaseSuspects(service.db)).toHaveLength(1);
    expect(await claimForRuns()).toEqual([id]);
    expect((await begin(inBurst(burstId), id, 2)).begun).toEqual({ kind: 'superseded' });
  });
});

it('ends any open delivery for an operator, whatever holds it, and keeps nothing of a deleted endpoint', async () => {
  await store(8);
  const burstId = await openBurst();
  const held = await claimForBurst(burstId, 2);
  const all = await service.db.selectFrom('webhook_open').select('id').execute();
  const ids = all.map(({ id }) => id);
  for (const id of ids.slice(0, 4)) expect(await endOne(service.db, id, 'stopped by an operator')).toBe(true);
  expect(held.length).toBe(2);
  await service.db
    .updateTable('webhook_endpoints')
    .set({ deleted_at: new Date() })
    .where('id', '=', endpoint.id)
    .execute();
  const ended = await Promise.all(ids.map((id) => endOne(service.db, id, 'endpoint deleted')));
  expect(ended.filter((each) => each)).toHaveLength(4);
  const rows = await service.db
    .selectFrom('webhook_log')
    .select('id')
    .where('endpoint_id', '=', endpoint.id)
    .execute();
  expect(rows).toHaveLength(4);
});
