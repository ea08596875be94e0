import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { createWebhookActivities } from '../../../activities/webhooks.ts';
import { createDatabase } from '../../../src/db/database.ts';
import { type BurstId, type DeliveryId, type EndpointId, newId } from '../../../src/ids.ts';
import { createAddressGuard } from '../../../src/outbound/resolver.ts';
import { createDeliveryDatabase } from '../../../src/processes/delivery-database.ts';
import { makeAttempt } from '../../../src/webhooks/attempts/attempt.ts';
import { beginAttempts } from '../../../src/webhooks/deliveries/begin.ts';
import { endDisabled, endInRun, endOne, freeBurst } from '../../../src/webhooks/deliveries/end.ts';
import { overdueRuns } from '../../../src/webhooks/deliveries/read-open.ts';
import { type RecordedAttempt, recordAttempts } from '../../../src/webhooks/deliveries/record.ts';
import type { Holder } from '../../../src/webhooks/deliveries/states.ts';
import { claimDue, WALK_START } from '../../../src/webhooks/relay/claim.ts';
import { createWebhookSender } from '../../../src/webhooks/sending/sender.ts';
import { register } from '../../support/events.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { logger, type TestWorkspace, useTestService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { storeDeliveries } from '../api/support/deliveries.ts';

const service = useTestService();

let receiver: Receiver;
let workspace: TestWorkspace;
let endpointId: EndpointId;

beforeEach(async () => {
  receiver = await startReceiver();
  workspace = await service.workspace();
  endpointId = (await register(service, workspace, receiver.url)).id;
  return async () => {
    await sql`DELETE FROM webhook_open`.execute(service.db);
    await sql`DELETE FROM webhook_bursts`.execute(service.db);
    await receiver.close();
  };
});

const store = (count: number) =>
  storeDeliveries(service.db, workspace, endpointId, { count, state: 'pending' });
const IN_RUN: Holder = { kind: 'run' };
const inBurst = (burstId: BurstId): Holder => ({ kind: 'burst', burstId });

async function openBurst(): Promise<BurstId> {
  const id = newId<BurstId>();
  await service.db.insertInto('webhook_bursts').values({ id }).execute();
  return id;
}

const candidate = (room: number, id = endpointId) =>
  ({ endpointId: id, dueFrom: '-infinity', room }) as const;
const claim = (options: Partial<Parameters<typeof claimDue>[1]> = {}, db = service.db) =>
  claimDue(db, {
    candidates: [candidate(20)],
    isLook: false,
    walkFrom: null,
    limit: 500,
    tokens: 0,
    burstId: null,
    ...options,
  });
const claimForBurst = async (burstId: BurstId, room = 20) =>
  (await claim({ burstId, candidates: [candidate(room)] })).deliveries.map(({ id }) => id);
/** What a burst claims, it has begun. */
async function claimOne(burstId: BurstId) {
  const [delivery] = (await claim({ burstId })).deliveries;
  if (delivery?.token == null) throw new Error('nothing was claimed');
  return { id: delivery.id, token: delivery.token };
}
const claimForRuns = async (tokens = 20) =>
  (await claim({ tokens, candidates: [], walkFrom: WALK_START })).deliveries.map(({ id }) => id);

const open = (id: DeliveryId) =>
  service.db.selectFrom('webhook_open').selectAll().where('id', '=', id).executeTakeFirst();
const logged = (id: DeliveryId) =>
  service.db.selectFrom('webhook_log').selectAll().where('id', '=', id).executeTakeFirst();

const begin = async (holder: Holder, deliveryId: DeliveryId, number = 1, token: string = randomUUID()) => ({
  token,
  begun: (await beginAttempts(service.db, holder, [{ deliveryId, number, token }]))[0],
});
const outcome = (
  deliveryId: DeliveryId,
  verdict: RecordedAttempt['verdict'],
  { number = 1, token }: { number?: number; token?: string } = {},
): RecordedAttempt => ({
  deliveryId,
  number,
  ...(token === undefined ? {} : { token }),
  startedAt: new Date().toISOString(),
  durationMs: 7,
  verdict,
  responseStatus: verdict === 'succeeded' ? 204 : 503,
  errorMessage: verdict === 'succeeded' ? null : 'The receiver answered 503.',
  responseBody: null,
});

/** The first of the claimed ones. */
function first(ids: readonly DeliveryId[]): DeliveryId {
  const [id] = ids;
  if (id === undefined) throw new Error('nothing was claimed');
  return id;
}

describe('claiming', () => {
  it('gives runs to an endpoint with at most five due, while there are tokens and twenty are not in runs yet', async () => {
    await store(5);
    expect(await claimForRuns(4)).toEqual([]);
    expect(await claimForRuns(5)).toHaveLength(5);
    for (let round = 0; round < 3; round += 1) {
      await store(5);
      expect(await claimForRuns()).toHaveLength(5);
    }
    await store(1);
    expect(await claimForRuns()).toEqual([]);
    const burstId = await openBurst();
    expect(await claimForBurst(burstId)).toHaveLength(1);
  });

  it('gives more than five due to a burst, the oldest first and no more than it has room for', async () => {
    await store(30);
    expect(await claimForRuns()).toEqual([]);
    const burstId = await openBurst();
    const taken = await claimForBurst(burstId);
    expect(taken).toHaveLength(20);
    expect(taken).toEqual([...taken].sort());
    expect(await claimForBurst(burstId)).toHaveLength(10);
  });

  it('serves endpoints in the order in which they are asked for, however few it may take', async () => {
    const ids = await Promise.all(
      Array.from(
        { length: 6 },
        async () => (await register(service, workspace, 'http://127.0.0.1:9/hooks')).id,
      ),
    );
    for (const id of ids) await storeDeliveries(service.db, workspace, id, { count: 10, state: 'pending' });
    const burstId = await openBurst();
    const order = [...ids].sort().reverse();
    for (const id of order) {
      const { deliveries } = await claim({
        burstId,
        limit: 10,
        candidates: order.slice(order.indexOf(id)).map((each) => candidate(20, each)),
      });
      expect(deliveries.map((delivery) => delivery.endpointId)).toEqual(Array(10).fill(id));
    }
  });

  it('only sees what a burst could take of endpoints that it looks for: they have no share yet', async () => {
    await store(30);
    const burstId = await openBurst();
    for (const look of [{ isLook: true }, { walkFrom: WALK_START }]) {
      const seen = await claim({ burstId, candidates: [], ...look });
      expect(seen.deliveries).toEqual([]);
      expect(seen.endpoints).toMatchObject([{ id: endpointId, due: 6 }]);
    }
    await sql`UPDATE webhook_open SET due_at = now() + interval '1 minute'`.execute(service.db);
    expect((await claim({ candidates: [], isLook: true, walkFrom: WALK_START })).endpoints).toEqual([]);
  });

  it('finds deliveries by id in the primary key alone: no other index could be skipped through for them', async () => {
    const { rows } = await sql<{ name: string }>`
      SELECT indexrelid::regclass::text AS name FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attname = 'id'
      WHERE indrelid = 'webhook_open'::regclass AND attnum = ANY (indkey)`.execute(service.db);
    expect(rows).toEqual([{ name: 'webhook_open_pkey' }]);
  });

  it('says of a look at the latest deliveries whether there may be more than it reads', async () => {
    await store(199);
    expect((await claim({ candidates: [], isLook: true })).isLookFull).toBe(false);
    await store(1);
    expect((await claim({ candidates: [], isLook: true })).isLookFull).toBe(true);
    expect((await claim({ candidates: [] })).isLookFull).toBe(false);
  });

  it('leaves alone what is not due yet, and says when it will be', async () => {
    await store(1);
    await sql`UPDATE webhook_open SET due_at = now() + interval '30 seconds'`.execute(service.db);
    const { deliveries, endpoints } = await claim({ tokens: 20 });
    expect(deliveries).toEqual([]);
    expect(endpoints[0]?.nextDueIn).toBeGreaterThan(29);
    expect(endpoints[0]?.nextDueIn).toBeLessThanOrEqual(30);
  });

  it('two processes claim at once, without waiting for each other and without one delivery twice', async () => {
    const others = createDatabase({ connectionString: service.config.DATABASE_URL, poolSize: 1 });
    try {
      await store(200);
      const burstId = await openBurst();
      const claims = await Promise.all(
        Array.from({ length: 4 }, (_, index) => claim({ burstId }, index % 2 === 0 ? service.db : others)),
      );
      const ids = claims.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.length).toBeGreaterThanOrEqual(20);
      // One that is frozen in the middle of a claim keeps nobody from the rest.
      await service.db.transaction().execute(async (tx) => {
        await sql`SELECT FROM webhook_open WHERE burst_id IS NULL ORDER BY due_at LIMIT 10 FOR UPDATE`.execute(
          tx,
        );
        const rest = await claim({ burstId, candidates: [candidate(500)] }, others);
        expect(rest.deliveries).toHaveLength(200 - ids.length - 10);
      });
    } finally {
      await others.destroy();
    }
  });

  it('reads what it takes and no more, though Postgres takes the table for empty', async () => {
    await sql`VACUUM ANALYZE webhook_open`.execute(service.db);
    await store(2_000);
    const burstId = await openBurst();
    const db = createDeliveryDatabase(service.config, logger);
    try {
      const read = await db.transaction().execute(async (tx) => {
        const { deliveries } = await claim({ burstId, candidates: [candidate(50)] }, tx as typeof db);
        expect(deliveries).toHaveLength(50);
        const { rows } = await sql<{ read: number }>`
          SELECT idx_tup_fetch::integer AS read FROM pg_stat_xact_all_tables WHERE relname = 'webhook_open'`.execute(
          tx,
        );
        return rows[0]?.read ?? Number.NaN;
      });
      expect(read).toBeLessThan(400);
    } finally {
      await db.destroy();
    }
  });

  it('takes nothing for a burst that was freed, even when the claim had begun before', async () => {
    await store(30);
    const burstId = await openBurst();
    expect(await claimForBurst(burstId)).toHaveLength(20);
    expect(await freeBurst(service.db, burstId)).toBe(20);
    expect(await claimForBurst(burstId)).toEqual([]);
    const free = await service.db
      .selectFrom('webhook_open')
      .select('id')
      .where('burst_id', 'is', null)
      .execute();
    expect(free).toHaveLength(30);
  });

  it('leaves out what belongs to a deleted endpoint, and ends what is due of a disabled one', async () => {
    await store(7);
    await service.db
      .updateTable('webhook_endpoints')
      .set({ deleted_at: new Date() })
      .where('id', '=', endpointId)
      .execute();
    expect((await claim({ tokens: 20, burstId: await openBurst() })).endpoints).toEqual([]);
    await service.db
      .updateTable('webhook_endpoints')
      .set({ deleted_at: null, active: false })
      .where('id', '=', endpointId)
      .execute();
    const seen = await claim({ tokens: 20, burstId: await openBurst() });
    expect(seen.deliveries).toEqual([]);
    expect(seen.endpoints).toMatchObject([{ active: false, due: 6 }]);
    expect(await endDisabled(service.db, endpointId)).toBe(7);
    await store(1);
    const enabled = service.db.updateTable('webhook_endpoints').set({ active: true });
    await enabled.where('id', '=', endpointId).execute();
    expect(await endDisabled(service.db, endpointId)).toBe(0);
    const rows = await service.db
      .selectFrom('webhook_log')
      .selectAll()
      .where('endpoint_id', '=', endpointId)
      .execute();
    expect(rows).toHaveLength(7);
    for (const row of rows)
      expect(row).toMatchObject({ status: 'failed', attempts: 0, error_message: 'endpoint disabled' });
  });
});

describe('an attempt', () => {
  it('begins once for each number, again only under its own token, and only for who has the delivery', async () => {
    await store(1);
    const id = first(await claimForRuns());
    expect((await begin(inBurst(newId()), id)).begun).toEqual({ kind: 'superseded' });
    const { token, begun } = await begin(IN_RUN, id);
    expect(begun).toMatchObject({ kind: 'begun', secret: expect.stringMatching(/^whsec_/) });
    expect((await begin(IN_RUN, id, 1, token)).begun).toMatchObject({ kind: 'begun' });
    expect((await begin(IN_RUN, id, 1)).begun).toEqual({ kind: 'superseded' });
    expect((await begin(IN_RUN, id, 2)).begun).toMatchObject({ kind: 'begun' });
    expect((await begin(IN_RUN, id, 1, token)).begun).toEqual({ kind: 'superseded' });
  });

  it('does not begin for an endpoint that was disabled or deleted, nor for a delivery that has ended', async () => {
    await store(1);
    const id = first(await claimForRuns());
    const set = (values: { active?: boolean; deleted_at?: Date | null }) =>
      service.db.updateTable('webhook_endpoints').set(values).where('id', '=', endpointId).execute();
    await set({ active: false });
    expect((await begin(IN_RUN, id)).begun).toEqual({ kind: 'stopped', reason: 'endpoint disabled' });
    await set({ active: true, deleted_at: new Date() });
    expect((await begin(IN_RUN, id)).begun).toEqual({ kind: 'stopped', reason: 'endpoint deleted' });
    await set({ deleted_at: null });
    expect(await endInRun(service.db, id, 'stopped by an operator')).toBe(true);
    expect((await begin(IN_RUN, id)).begun).toEqual({ kind: 'stopped', reason: 'delivery ended' });
    expect(await logged(id)).toMatchObject({ status: 'failed', error_message: 'stopped by an operator' });
  });

  it('that is answered 2xx ends its delivery as succeeded, with every attempt in the log', async () => {
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

  it('that was delivered counts, whatever was written in between by somebody who thought its worker lost', async () => {
    await store(1);
    const burstId = await openBurst();
    const { id, token } = await claimOne(burstId);
    await freeBurst(service.db, burstId);
    expect(await open(id)).toMatchObject({
      attempts: 1,
      error_message: expect.stringContaining('outcome is unknown'),
    });
    expect((await recordAttempts(service.db, [outcome(id, 'retry', { token })])).size).toBe(0);
    expect((await recordAttempts(service.db, [outcome(id, 'succeeded', { token })])).size).toBe(1);
    expect(await logged(id)).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  it('that found nobody to send to is recorded by who has the delivery, and by nobody else', async () => {
    await store(1);
    const burstId = await openBurst();
    const { id, token } = await claimOne(burstId);
    const sender = createWebhookSender({
      guard: createAddressGuard({ allowedNetworks: service.config.WEBHOOK_ALLOWED_NETWORKS }),
    });
    const request = {
      deliveryId: id,
      eventType: 'article.created',
      url: 'http://127.0.0.1/',
      body: Buffer.from('{}'),
    };
    const attempt = (holder: Holder) =>
      makeAttempt(
        sender,
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

  it('of a run that meets one that has begun sends nothing, and the next one numbers on', async () => {
    await store(1);
    const { deliveries } = await claim({ tokens: 20, candidates: [], walkFrom: WALK_START });
    const kept = [...deliveries];
    const [{ id } = { id: newId<DeliveryId>() }] = deliveries;
    await begin(IN_RUN, id);
    const { attemptDelivery } = createWebhookActivities({
      db: service.db,
      sender: createWebhookSender({
        guard: createAddressGuard({ allowedNetworks: service.config.WEBHOOK_ALLOWED_NETWORKS }),
      }),
      takeClaimed: () => kept.pop(),
      onAttemptBegan: () => undefined,
      onAttemptEnded: () => undefined,
    });
    const attempt = () => new MockActivityEnvironment({ attempt: 1 }).run(attemptDelivery, id, 0);
    await expect(attempt()).rejects.toMatchObject({ type: 'AttemptSuperseded', nonRetryable: false });
    expect(receiver.received).toEqual([]);
    expect(await attempt()).toEqual({ kind: 'recorded', number: 2 });
    expect(receiver.received).toHaveLength(1);
  });

  it('that is overdue in a run is found, also when somebody has removed its event', async () => {
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

describe('a burst that is lost', () => {
  it('has spent an attempt of what it had; a sixth one ends its delivery', async () => {
    await store(2);
    const burstId = await openBurst();
    await sql`UPDATE webhook_open SET attempts = 5, begun = 5 WHERE id = (SELECT max(id::text)::uuid FROM webhook_open)`.execute(
      service.db,
    );
    const [begun, sixth] = await claimForBurst(burstId);
    if (begun === undefined || sixth === undefined) throw new Error('not claimed');
    expect(await freeBurst(service.db, burstId)).toBe(2);
    expect(await open(begun)).toMatchObject({ burst_id: null, attempts: 1, status: 'failed' });
    expect(await open(sixth)).toBeUndefined();
    expect(await logged(sixth)).toMatchObject({ status: 'failed', attempts: 6 });
    expect(await freeBurst(service.db, burstId)).toBe(0);
  });

  it('leaves what its own process was never given as it was before the claim', async () => {
    await store(2);
    const burstId = await openBurst();
    const [given, lost] = await claimForBurst(burstId);
    if (given === undefined || lost === undefined) throw new Error('not claimed');
    const before = await open(lost);
    expect(await freeBurst(service.db, burstId, (id) => id === given)).toBe(2);
    expect(await open(given)).toMatchObject({ burst_id: null, attempts: 1, status: 'failed' });
    expect(await open(lost)).toMatchObject({
      burst_id: null,
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
    expect(await open(id)).toMatchObject({ burst_id: null, attempts: 2, status: 'failed' });
  });

  it('begins nothing more, as a worker that was frozen finds when it goes on', async () => {
    await store(1);
    const burstId = await openBurst();
    const { id, token } = await claimOne(burstId);
    expect((await begin(inBurst(burstId), id, 1, token)).begun).toMatchObject({ kind: 'begun' });
    await freeBurst(service.db, burstId);
    expect((await begin(inBurst(burstId), id, 1, token)).begun).toEqual({ kind: 'superseded' });
    await sql`UPDATE webhook_open SET due_at = now()`.execute(service.db);
    expect(await claimForRuns()).toEqual([id]);
    expect((await begin(inBurst(burstId), id, 2)).begun).toEqual({ kind: 'superseded' });
  });
});

it('ends any open delivery for an operator, whoever has it, and keeps nothing of a deleted endpoint', async () => {
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
    .where('id', '=', endpointId)
    .execute();
  const ended = await Promise.all(ids.map((id) => endOne(service.db, id, 'endpoint deleted')));
  expect(ended.filter((each) => each)).toHaveLength(4);
  const rows = await service.db
    .selectFrom('webhook_log')
    .select('id')
    .where('endpoint_id', '=', endpointId)
    .execute();
  expect(rows).toHaveLength(4);
});
