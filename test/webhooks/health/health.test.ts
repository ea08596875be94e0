import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { EndpointId } from '../../../src/ids.ts';
import { setEndpointActive } from '../../../src/webhooks/endpoints/set-active.ts';
import { lookAfterEndpoints } from '../../../src/webhooks/health/upkeep.ts';
import { fromText, toText } from '../../../src/webhooks/secrets/credentials.ts';
import { createSecretRing } from '../../../src/webhooks/secrets/ring.ts';
import { emit, emitTogether, insertEndpoint, register, rowsOf } from '../../support/events.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { logger, startTestService, type TestService, type TestWorkspace } from '../../support/service.ts';
import { storeDeliveries } from '../api/support/deliveries.ts';
import { untilAll } from '../relay/support.ts';

let service: TestService;
let receiver: Receiver;
let workspace: TestWorkspace;
let endpoint: { id: EndpointId };

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  receiver = await startReceiver();
  workspace = await service.workspace();
  endpoint = await register(service, workspace, receiver.url);
  return () => receiver.close();
});

const path = (more: string, id = endpoint.id) => `/api/workspaces/${workspace.id}/webhooks/${id}${more}`;
const health = async (id = endpoint.id) =>
  (await service.call(workspace.key, 'GET', path('/health', id))).body.health;
const listed = async (id = endpoint.id) => {
  const { body } = await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/webhooks`);
  return body.endpoints.find((of: { id: string }) => of.id === id);
};

/** Stores that deliveries have failed for so many hours. */
async function fail(id: EndpointId, failed: number, hours: number): Promise<void> {
  await sql`
    INSERT INTO webhook_health (endpoint_id, failing_since, failed)
    VALUES (${id}, now() - make_interval(secs => ${hours * 3_600}), ${failed})
    ON CONFLICT (endpoint_id) DO UPDATE SET failing_since = excluded.failing_since, failed = excluded.failed`.execute(
    service.db,
  );
}

/** What workers do each hour. @returns how many endpoints it disabled */
async function look(): Promise<number> {
  let disabled = 0;
  const secrets = createSecretRing(service.config.SECRETS_KEYS);
  const onDisabled = () => {
    disabled += 1;
  };
  await lookAfterEndpoints({ db: service.db, secrets, logger, onDisabled });
  return disabled;
}

// contract.md W69
it('health shows the last success, what failed since, the attempts of a day, and what waits', async () => {
  expect(await health()).toEqual({
    status: 'ok',
    lastSuccessAt: null,
    failingSince: null,
    failedDeliveries: 0,
    disabledFrom: null,
    day: { attempts: 0, succeeded: 0, successRate: null, p95Ms: null },
    open: 0,
    nextAttemptAt: null,
    behind: null,
    missed: null,
  });
  const worker = await service.startWorker();
  await emitTogether(service, workspace, 30);
  await untilAll(service, workspace, ({ status }) => status === 'succeeded');
  receiver.answer = () => 400;
  await emit(service, workspace);
  await emitTogether(service, workspace, 9);
  await untilAll(service, workspace, ({ attempts }) => attempts === 1);
  receiver.answer = () => 503;
  await emit(service, workspace);
  await untilAll(service, workspace, ({ attempts }) => attempts === 1);
  await worker.stop();
  const shown = await health();
  expect(shown).toMatchObject({
    status: 'failing',
    failedDeliveries: 10,
    disabledFrom: null,
    day: { attempts: 41, succeeded: 30, successRate: 30 / 41, p95Ms: expect.any(Number) },
    open: 1,
  });
  expect(Date.parse(shown.failingSince)).toBeGreaterThanOrEqual(Date.parse(shown.lastSuccessAt));
  expect(Date.parse(shown.nextAttemptAt)).toBeGreaterThan(Date.now());
  await service.call(workspace.key, 'POST', path('/pause'));
  expect(await health()).toMatchObject({ status: 'paused', open: 1, nextAttemptAt: null });
  await sql`UPDATE webhook_hours SET hour = hour - interval '27 hours' WHERE endpoint_id = ${endpoint.id}`.execute(
    service.db,
  );
  expect((await health()).day.attempts).toBe(0);
  await look();
  const left = service.db.selectFrom('webhook_hours').select('hour').where('endpoint_id', '=', endpoint.id);
  expect(await left.execute()).toEqual([]);
  const stranger = await service.workspace();
  expect((await service.call(stranger.key, 'GET', path('/health'))).status).toBe(404);
});

// contract.md W70
it('warns after 48 hours, and disables after 120 with 20 failed deliveries, and no other endpoint', async () => {
  await fail(endpoint.id, 500, 47.9);
  expect(await health()).toMatchObject({ status: 'failing', disabledFrom: null });
  await fail(endpoint.id, 500, 48.1);
  const warned = await health();
  expect(warned.status).toBe('warning');
  expect(Date.parse(warned.disabledFrom) - Date.parse(warned.failingSince)).toBe(120 * 3_600_000);
  await fail(endpoint.id, 500, 119.9);
  const few = await insertEndpoint(service.db, workspace.id, { events: ['article.created'] });
  await fail(few, 19, 500);
  const paused = await insertEndpoint(service.db, workspace.id, { events: ['article.created'] });
  await service.call(workspace.key, 'POST', path('/pause', paused));
  await fail(paused, 500, 500);
  expect(await look()).toBe(0);

  await fail(endpoint.id, 20, 120.1);
  const looks = await Promise.all([look(), look(), look()]);
  expect(looks.reduce((sum, count) => sum + count)).toBe(1);
  expect(await listed()).toMatchObject({ active: false, disabledFor: 'failing' });
  expect(await health()).toMatchObject({ status: 'disabled', failedDeliveries: 20 });
  for (const id of [few, paused]) expect(await listed(id)).toMatchObject({ active: true });
  const audit = await service.db
    .selectFrom('audit_entries')
    .select(['actor_kind', 'actor_id', 'target_id', 'details'])
    .where('workspace_id', '=', workspace.id)
    .where('action', '=', 'webhooks.disabled')
    .execute();
  expect(audit).toEqual([
    {
      actor_kind: 'system',
      actor_id: null,
      target_id: endpoint.id,
      details: expect.objectContaining({ reason: 'failing', failed: 20 }),
    },
  ]);
});

// contract.md W70
it('ends what waits for it in batches, queues nothing more, and begins anew once it is enabled', async () => {
  const due = sql<Date>`now() - interval '1 second'`;
  const stored = { count: 2_500, state: 'pending', due, withEvents: false } as const;
  await storeDeliveries(service.db, workspace, endpoint.id, stored);
  await fail(endpoint.id, 20, 121);
  expect(await look()).toBe(1);
  const worker = await service.startWorker();
  const rows = await untilAll(service, workspace, ({ status }) => status === 'failed', 30_000);
  expect(rows).toHaveLength(2_500);
  expect(rows.every((row) => row.error_message === 'endpoint disabled' && row.attempts === 0)).toBe(true);
  await emit(service, workspace);
  expect(await rowsOf(service, workspace)).toHaveLength(2_500);
  expect(receiver.received).toEqual([]);

  const { body } = await service.call(workspace.key, 'POST', path('/resume'));
  expect(body.endpoint).toMatchObject({ active: true, disabledFor: null });
  expect(await health()).toMatchObject({ status: 'ok', failingSince: null, failedDeliveries: 0 });
  await emit(service, workspace);
  await untilAll(service, workspace, ({ status }) => status !== 'pending');
  expect(receiver.received).toHaveLength(1);
  await worker.stop();
  expect(await look()).toBe(0);

  await fail(endpoint.id, 30, 130);
  const context = { context: workspace.context, id: endpoint.id };
  for (const active of [false, true]) {
    await setEndpointActive(context.context, { endpointId: context.id, active });
  }
  expect(await look()).toBe(0);
});

// contract.md W61
it('forgets the old secret of a rotation whose overlap is over, and leaves an open one', async () => {
  const ring = createSecretRing(service.config.SECRETS_KEYS);
  const credentials = async (id: EndpointId) => {
    const row = service.db.selectFrom('webhook_endpoints').select('secret').where('id', '=', id);
    return fromText(ring.decrypt(id, (await row.executeTakeFirstOrThrow()).secret) ?? '');
  };
  const other = await register(service, workspace, receiver.url);
  for (const id of [endpoint.id, other.id]) {
    expect((await service.call(workspace.key, 'POST', path('/rotate-secret', id), {})).status).toBe(201);
  }
  const { next, ...rest } = await credentials(endpoint.id);
  if (next === null) throw new Error('no rotation is open');
  const activeAt = new Date(Date.now() - 1_000);
  await service.db
    .updateTable('webhook_endpoints')
    .set({
      secret: ring.encrypt(endpoint.id, toText({ ...rest, next: { ...next, activeAt } })),
      rotation_ends_at: activeAt,
    })
    .where('id', '=', endpoint.id)
    .execute();
  await look();
  expect(await credentials(endpoint.id)).toEqual({ secret: next.secret, next: null, headers: {} });
  expect((await credentials(other.id)).next).not.toBeNull();
});
