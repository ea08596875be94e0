import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createApiKey } from '../../../src/api-keys/create.ts';
import { setEndpointActive } from '../../../src/webhooks/endpoints/set-active.ts';
import { emit, emitTogether, rowsOf } from '../../support/events.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { type Subscriber, subscribe, untilAll, untilReceived } from '../relay/support.ts';

let service: TestService;
let subscriber: Subscriber;

beforeAll(async () => {
  service = await startTestService();
  await service.startWorker();
});
afterAll(() => service.stop());
beforeEach(async () => {
  subscriber = await subscribe(service);
  return () => subscriber.receiver.close();
});

const call = (method: string, more: string, body?: unknown, key = subscriber.workspace.key) => {
  const { workspace, endpoint } = subscriber;
  return service.call(key, method, `/api/workspaces/${workspace.id}/webhooks/${endpoint.id}${more}`, body);
};
const listed = async () => {
  const { workspace } = subscriber;
  const { body } = await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/webhooks`);
  return body.endpoints[0];
};
const audited = async () => {
  const rows = await service.db
    .selectFrom('audit_entries')
    .select(['action', 'details'])
    .where('workspace_id', '=', subscriber.workspace.id)
    .where('action', 'like', 'webhooks.%')
    .orderBy('created_at')
    .execute();
  return rows.slice(1);
};
const disable = (active: boolean) =>
  setEndpointActive(subscriber.workspace.context, { endpointId: subscriber.endpoint.id, active });
const settings = { description: 'Rebuilds the site', rateLimit: null };

// contract.md W63
it('a paused endpoint stays active and gets nothing, events go on queueing, and are sent once it is resumed', async () => {
  const { workspace, receiver } = subscriber;
  const { status, body } = await call('POST', '/pause');
  expect(status).toBe(200);
  expect(body.endpoint).toEqual(await listed());
  expect(body.endpoint).toMatchObject({ active: true, pausedAt: expect.any(String) });
  expect((await call('POST', '/pause')).body.endpoint.pausedAt).toBe(body.endpoint.pausedAt);

  await emit(service, workspace);
  await emitTogether(service, workspace, 40);
  // Another endpoint's delivery is sent after several looks of the relay.
  const other = await subscribe(service);
  for (let count = 1; count <= 3; count += 1) {
    await emit(service, other.workspace);
    await untilReceived(other.receiver, count);
  }
  await other.receiver.close();
  expect(receiver.received).toEqual([]);
  expect((await rowsOf(service, workspace)).map(({ status: of }) => of)).toEqual(Array(41).fill('pending'));

  expect((await call('POST', '/resume')).body.endpoint).toMatchObject({ active: true, pausedAt: null });
  await untilAll(service, workspace, ({ status: of }) => of === 'succeeded');
  expect(receiver.received).toHaveLength(41);
  expect((await call('POST', '/resume')).status).toBe(200);
  expect((await audited()).map(({ action }) => action)).toEqual(['webhooks.paused', 'webhooks.resumed']);
});

// contract.md W63
it('a pause in the midst of a backlog holds what has not begun, spends no attempt on it, and loses none', async () => {
  const { workspace, receiver } = subscriber;
  receiver.answer = async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return 204;
  };
  await emitTogether(service, workspace, 400);
  await untilReceived(receiver, 20);
  await call('POST', '/pause');
  // What has begun is recorded; of the rest nothing has.
  await eventually(
    () => rowsOf(service, workspace),
    (rows) => rows.filter(({ status }) => status === 'succeeded').length === receiver.received.length,
  );
  const held = (await rowsOf(service, workspace)).filter(({ status }) => status !== 'succeeded');
  expect(held.length).toBeGreaterThan(0);
  expect(held.every(({ attempts }) => attempts === 0)).toBe(true);
  await call('POST', '/resume');
  const rows = await untilAll(service, workspace, ({ status }) => status === 'succeeded', 60_000);
  expect(rows).toHaveLength(400);
  expect(rows.every(({ attempts }) => attempts === 1)).toBe(true);
  expect(receiver.received).toHaveLength(400);
});

// contract.md W64
it('one that the operator disabled can be neither paused nor resumed; one disabled for failing can be resumed', async () => {
  await call('POST', '/pause');
  await disable(false);
  expect(await listed()).toMatchObject({ active: false, disabledFor: 'operator', pausedAt: null });
  for (const verb of ['/pause', '/resume']) {
    const { status, body } = await call('POST', verb);
    expect([status, body.details]).toEqual([409, { reason: 'endpoint_disabled' }]);
  }
  await disable(true);
  expect(await listed()).toMatchObject({ active: true, disabledFor: null });
  const failing = service.db
    .updateTable('webhook_endpoints')
    .set({ active: false, disabled_for: 'failing' })
    .where('id', '=', subscriber.endpoint.id);
  await failing.execute();
  expect((await call('POST', '/pause')).status).toBe(409);
  expect((await call('POST', '/resume')).body.endpoint).toMatchObject({ active: true, disabledFor: null });
  await emit(service, subscriber.workspace);
  await untilReceived(subscriber.receiver, 1);
  await failing.execute();
  await disable(false);
  expect((await call('POST', '/resume')).status).toBe(409);
  const actions = (await audited()).map(({ action }) => action);
  expect(actions).toEqual([
    'webhooks.paused',
    ...['webhooks.disabled', 'webhooks.enabled', 'webhooks.enabled', 'webhooks.disabled'],
  ]);
});

// contract.md W65 and W66
it('settings replace description and rate; custom headers are sent, listed by name, and stored nowhere in clear', async () => {
  const { workspace, receiver, endpoint } = subscriber;
  const value = 'Bearer a-token-of-the-gateway';
  const put = (body: unknown) => call('PUT', '/settings', body);
  const full = { ...settings, rateLimit: 50, headers: { Authorization: value, 'X-Team': 'content' } };
  const { status, body } = await put(full);
  expect(status).toBe(200);
  expect(body.endpoint).toEqual(await listed());
  expect(body.endpoint).toMatchObject({
    description: settings.description,
    rateLimit: 50,
    headers: ['authorization', 'x-team'],
  });
  await emit(service, workspace);
  await untilReceived(receiver, 1);
  expect(receiver.received[0]?.headers).toMatchObject({ authorization: value, 'x-team': 'content' });
  expect((await call('POST', '/test')).body.delivered).toBe(true);
  expect(receiver.received[1]?.headers.authorization).toBe(value);

  // Left out they stay, also over a rotation; given, they are replaced.
  expect((await put(settings)).body.endpoint).toMatchObject({
    rateLimit: null,
    headers: ['authorization', 'x-team'],
  });
  expect((await call('POST', '/rotate-secret', { overlapHours: 1 })).status).toBe(201);
  expect((await put({ ...settings, headers: { 'x-team': 'web' } })).body.endpoint.headers).toEqual([
    'x-team',
  ]);
  expect((await listed()).rotationEndsAt).not.toBeNull();
  await emit(service, workspace);
  await untilReceived(receiver, 3);
  expect(receiver.received[2]?.headers).toMatchObject({ 'x-team': 'web' });
  expect(receiver.received[2]?.headers).not.toHaveProperty('authorization');
  expect(receiver.received[2]?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  expect((await put({ ...settings, headers: {} })).body.endpoint.headers).toEqual([]);

  const stored = await service.db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', '=', endpoint.id)
    .executeTakeFirstOrThrow();
  const texts = [JSON.stringify(stored), JSON.stringify(await audited()), JSON.stringify(await listed())];
  for (const text of texts) expect(text).not.toMatch(/a-token-of-the-gateway|"web"/);
});

// contract.md W66
it.each([
  { Host: 'x' },
  { 'Content-Length': '1' },
  { connection: 'close' },
  { TE: 'trailers' },
  { trailer: 'x' },
  { 'transfer-encoding': 'chunked' },
  { upgrade: 'h2c' },
  { expect: '100-continue' },
  { 'X-Service-Signature': 't=1,v1=0' },
  { 'Webhook-Id': 'x' },
  { traceparent: '00-0' },
  { 'x-forwarded-for': '127.0.0.1' },
  { '': 'x' },
  { 'a b': 'x' },
  { 'a:b': 'x' },
  { ['a'.repeat(65)]: 'x' },
  { 'x-a': '' },
  { 'x-a': 'a\r\nhost: b' },
  { 'x-a': 'é' },
  { 'x-a': ' x' },
  { 'x-a': 'a'.repeat(1_025) },
  { 'x-a': '1', 'X-A': '2' },
  Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`x-${n}`, '1'])),
])('refuses custom headers that frame, sign or misdirect a request: %j', async (headers) => {
  const { status, body } = await call('PUT', '/settings', { ...settings, headers });
  expect(status).toBe(400);
  expect(body.errors[0].pointer).toMatch(/^\/headers/);
  expect(await listed()).toMatchObject({ description: '', headers: [] });
});

// contract.md W65
it('refuses other bad settings, takes the longest headers, and needs integrations.create for each of its verbs', async () => {
  for (const [pointer, bad] of [
    ['/rateLimit', { rateLimit: 0 }],
    ['/rateLimit', { rateLimit: 1_001 }],
    ['/rateLimit', { rateLimit: 1.5 }],
    ['/description', { description: 'x'.repeat(501) }],
  ] as const) {
    const { status, body } = await call('PUT', '/settings', { ...settings, ...bad });
    expect([status, body.errors[0].pointer]).toEqual([400, pointer]);
  }
  const longest = Array.from({ length: 10 }, (_, n) => [`x-${n}`.padEnd(64, 'a'), 'b'.repeat(1_024)]);
  expect((await call('PUT', '/settings', { ...settings, headers: Object.fromEntries(longest) })).status).toBe(
    200,
  );
  await emit(service, subscriber.workspace);
  await untilReceived(subscriber.receiver, 1);
  expect(subscriber.receiver.received[0]?.headers).toMatchObject(Object.fromEntries(longest));
  const { workspace } = subscriber;
  const editor = await createApiKey(workspace.context, { label: 'x', roleId: workspace.roles.editor });
  for (const [method, path, body] of [
    ['PUT', '/settings', settings],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/rotate-secret', {}],
    ['POST', '/activate-secret'],
  ] as const) {
    expect((await call(method, path, body, editor.key)).status).toBe(403);
  }
});
