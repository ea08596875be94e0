import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { createApiKey } from '../../../src/api-keys/create.ts';
import { EVENT_TYPES } from '../../../src/events/catalog.ts';
import { type EndpointId, newId, type RoleId } from '../../../src/ids.ts';
import { setEndpointActive } from '../../../src/webhooks/endpoints/set-active.ts';
import { emit } from '../../support/events.ts';
import { type TestWorkspace, useTestService } from '../../support/service.ts';
import { storeDeliveries } from './support/deliveries.ts';

// One loopback address alone is open, so that all others can be seen to be refused.
const service = useTestService({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1/32' });

let workspace: TestWorkspace;

beforeEach(async () => {
  workspace = await service.workspace();
});

const path = (more = '') => `/api/workspaces/${workspace.id}/webhooks${more}`;
const call = (method: string, more = '', body?: unknown) =>
  service.call(workspace.key, method, path(more), body);
const valid = { url: 'http://127.0.0.1:9/hooks', events: ['article.created'] };
/** What the list shows of an endpoint that nobody has changed since. */
const unchanged = {
  description: '',
  pausedAt: null,
  disabledFor: null,
  rateLimit: null,
  headers: [],
  rotationEndsAt: null,
};
const auditActions = async () =>
  (
    await service.db
      .selectFrom('audit_entries')
      .select(['action', 'target_id', 'details'])
      .where('workspace_id', '=', workspace.id)
      .where('action', 'like', 'webhooks.%')
      .orderBy('created_at')
      .execute()
  ).map(({ action, target_id, details }) => ({ action, target_id, details }));

// contract.md W3 and W10
it('registers an endpoint and shows its secret once: neither list, audit nor any later response holds it', async () => {
  const created = await call('POST', '', {
    url: 'HTTP://127.0.0.1.:80/hooks/../in?token=s3cret',
    events: ['article.updated', 'article.created', 'article.updated'],
    description: `${'é'.repeat(499)}😀`,
    unknown: true,
  });
  expect(created.status).toBe(201);
  const { endpoint, secret } = created.body;
  expect(created.body).toEqual({
    endpoint: {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      url: 'http://127.0.0.1/in?token=s3cret',
      events: ['article.updated', 'article.created'],
      active: true,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    },
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  const second = await call('POST', '', valid);
  expect(second.body.secret).not.toBe(secret);

  const list = await call('GET');
  expect(list.status).toBe(200);
  expect(list.body).toEqual({
    endpoints: [
      { ...endpoint, ...unchanged, description: `${'é'.repeat(499)}😀` },
      { ...second.body.endpoint, ...unchanged },
    ],
    deliveries: [],
    events: [...EVENT_TYPES],
  });
  const audit = await auditActions();
  expect(audit).toEqual([
    {
      action: 'webhooks.created',
      target_id: endpoint.id,
      details: { host: '127.0.0.1', events: ['article.updated', 'article.created'] },
    },
    { action: 'webhooks.created', target_id: second.body.endpoint.id, details: expect.anything() },
  ]);
  for (const text of [JSON.stringify(list.body), JSON.stringify(audit)]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain('whsec_');
  }
});

it('accepts a name that does not resolve yet', async () => {
  const { status, body } = await call('POST', '', { ...valid, url: 'https://receiver.invalid/hooks' });
  expect(status).toBe(201);
  expect(body.endpoint.url).toBe('https://receiver.invalid/hooks');
});

it('treats null for the description as absent', async () => {
  expect((await call('POST', '', { ...valid, description: null })).status).toBe(201);
  expect((await call('GET')).body.endpoints[0].description).toBe('');
});

// contract.md W1
it.each([
  ['/url', { url: 'http://127.0.0.2/hooks' }],
  ['/url', { url: 'http://10.0.0.1/hooks' }],
  ['/url', { url: 'http://[::1]/hooks' }],
  ['/url', { url: 'http://2130706434/hooks' }],
  ['/url', { url: 'http://169.254.169.254/latest/meta-data' }],
  ['/url', { url: 'ftp://example.com/' }],
  ['/url', { url: 'http://user:pass@127.0.0.1/' }],
  ['/url', { url: 'not a url' }],
  ['/url', { url: `http://127.0.0.1/${'a'.repeat(2_048)}` }],
  ['/url', { url: null }],
  ['/url', { url: 7 }],
  ['/url', { url: 'http://127.0.0.1/\u0000' }],
  ['/events', { events: [] }],
  ['/events', { events: null }],
  ['/events', { events: 'article.created' }],
  ['/events/1', { events: ['article.created', 'article.deleted'] }],
  ['/events/0', { events: ['ping'] }],
  ['/description', { description: 'x'.repeat(501) }],
  ['/description', { description: {} }],
])('refuses bad input with 400 naming %s, and stores nothing: %j', async (pointer, change) => {
  const { status, body } = await call('POST', '', { ...valid, ...change });
  expect(status).toBe(400);
  expect(body.code).toBe('INVALID_REQUEST');
  expect(body.errors.map((issue: { pointer: string }) => issue.pointer)).toEqual([pointer]);
  expect((await call('GET')).body.endpoints).toEqual([]);
  expect(await auditActions()).toEqual([]);
});

// contract.md W4
it('lists the 50 newest deliveries over all endpoints, newest first, and filters before it counts', async () => {
  const [one, two] = [
    (await call('POST', '', valid)).body.endpoint.id,
    (await call('POST', '', valid)).body.endpoint.id,
  ];
  await storeDeliveries(service.db, workspace, one, { count: 30, state: 'succeeded', age: 300 });
  await storeDeliveries(service.db, workspace, two, { count: 40, state: 'failed', age: 200 });
  await storeDeliveries(service.db, workspace, one, { count: 5, state: 'waiting', age: 100 });
  await emit(service, workspace);

  const all = (await call('GET')).body.deliveries;
  expect(all).toHaveLength(50);
  expect(
    all
      .slice(0, 2)
      .map((delivery: { endpointId: string }) => delivery.endpointId)
      .sort(),
  ).toEqual([one, two].sort());
  const times = all.map((delivery: { createdAt: string }) => Date.parse(delivery.createdAt));
  expect(times).toEqual([...times].sort((a, b) => b - a));
  expect(all[0]).toEqual({
    id: expect.any(String),
    endpointId: expect.any(String),
    eventType: 'article.created',
    status: 'pending',
    attempts: 0,
    responseStatus: null,
    errorMessage: null,
    deliveredAt: null,
    createdAt: expect.stringMatching(/Z$/),
  });

  const filtered = async (status: string) => (await call('GET', `?deliveryStatus=${status}`)).body.deliveries;
  expect(await filtered('pending')).toHaveLength(2);
  expect(await filtered('failed')).toHaveLength(45);
  const succeeded = await filtered('succeeded');
  expect(succeeded).toHaveLength(30);
  expect(succeeded[0]).toMatchObject({
    status: 'succeeded',
    attempts: 1,
    responseStatus: 204,
    errorMessage: null,
  });
  expect(succeeded[0].deliveredAt).not.toBeNull();

  for (const query of [
    '?deliveryStatus=running',
    '?deliveryStatus=',
    '?deliveryStatus=failed&deliveryStatus=failed',
  ]) {
    const { status, body } = await call('GET', query);
    expect(status).toBe(400);
    expect(body.errors[0].pointer).toBe('query/deliveryStatus');
  }
});

// contract.md W7
it('keeps workspaces apart and needs the permission of each route', async () => {
  const { id } = (await call('POST', '', valid)).body.endpoint;
  const [deliveryId] = await emit(service, workspace);
  const stranger = await service.workspace();
  const routes = [
    ['DELETE', `/${id}`],
    ['POST', `/${id}/test`],
    ['POST', `/${id}/redeliver`, { since: '2026-01-01T00:00:00Z' }],
    ['GET', `/${id}/deliveries?status=open`],
    ['GET', `/deliveries/${deliveryId}`],
    ['POST', `/deliveries/${deliveryId}/redeliver`],
    ['POST', `/deliveries/${deliveryId}/cancel`],
  ] as const;
  for (const [method, more, body] of routes) {
    const foreign = await service.call(
      stranger.key,
      method,
      `/api/workspaces/${stranger.id}/webhooks${more}`,
      body,
    );
    const unknown = await call(method, more.replace(/[0-9a-f-]{36}/, newId()), body);
    const malformed = await call(method, more.replace(/[0-9a-f-]{36}/, 'nonsense'), body);
    for (const answer of [foreign, unknown, malformed]) {
      expect(answer.status).toBe(404);
      expect(answer.body.code).toBe('RESOURCE_NOT_FOUND');
    }
  }

  const reader = newId<RoleId>();
  await service.db
    .insertInto('roles')
    .values({
      id: reader,
      workspace_id: workspace.id,
      name: 'Reader',
      name_key: 'reader',
      permissions: ['integrations.read'],
    })
    .execute();
  const reads = await createApiKey(workspace.context, { label: 'reader', roleId: reader });
  const edits = await createApiKey(workspace.context, { label: 'editor', roleId: workspace.roles.editor });
  const statusOf = async (key: string, method: string, more: string, body?: unknown) =>
    (await service.call(key, method, path(more), body)).status;
  expect(await statusOf(reads.key, 'GET', '')).toBe(200);
  expect(await statusOf(reads.key, 'GET', `/deliveries/${deliveryId}`)).toBe(200);
  expect(await statusOf(reads.key, 'POST', '', valid)).toBe(403);
  expect(await statusOf(edits.key, 'GET', '')).toBe(403);
  for (const [method, more, body] of routes.filter(([method]) => method !== 'GET')) {
    expect(await statusOf(reads.key, method, more, body)).toBe(403);
    expect(await statusOf(edits.key, method, more, body)).toBe(403);
  }
  expect((await call('GET')).body).toMatchObject({ endpoints: [{ id }], deliveries: [{ id: deliveryId }] });
});

it('deletes an endpoint with its log, and nothing is queued for it afterwards', async () => {
  const { id } = (await call('POST', '', valid)).body.endpoint;
  const other = (await call('POST', '', valid)).body.endpoint.id;
  await storeDeliveries(service.db, workspace, id, { count: 3, state: 'failed' });
  await emit(service, workspace);
  const deleted = await call('DELETE', `/${id.toUpperCase()}`);
  expect([deleted.status, deleted.body]).toEqual([200, { ok: true }]);
  expect((await call('DELETE', `/${id}`)).status).toBe(404);

  const list = (await call('GET')).body;
  expect(list.endpoints.map((endpoint: { id: string }) => endpoint.id)).toEqual([other]);
  expect(list.deliveries).toHaveLength(1);
  await emit(service, workspace);
  expect((await call('GET')).body.deliveries).toHaveLength(2);
  expect((await auditActions()).at(-1)).toEqual({
    action: 'webhooks.deleted',
    target_id: id,
    details: { host: '127.0.0.1:9' },
  });
});

// contract.md W6
it('never queues for an endpoint that is disabled, nor repeats anything to it', async () => {
  const { id } = (await call('POST', '', valid)).body.endpoint;
  await storeDeliveries(service.db, workspace, id, { count: 1, state: 'failed' });
  await setEndpointActive(workspace.context, { endpointId: id, active: false });
  await emit(service, workspace);
  const { endpoints, deliveries } = (await call('GET')).body;
  expect(endpoints[0].active).toBe(false);
  expect(deliveries).toHaveLength(1);
  for (const [more, body] of [
    [`/${id}/test`],
    [`/${id}/redeliver`, { since: '2026-01-01T00:00:00Z' }],
    [`/deliveries/${deliveries[0].id}/redeliver`],
  ] as const) {
    const answer = await call('POST', more, body);
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({ code: 'CONFLICT', details: { reason: 'endpoint_disabled' } });
  }
  expect((await call('GET')).body.deliveries).toHaveLength(1);
});

// contract.md W11
it('has room for 100 endpoints a workspace, however many register at once, and again once one is deleted', async () => {
  await service.db
    .insertInto('webhook_endpoints')
    .values(
      Array.from({ length: 97 }, () => ({
        id: newId<EndpointId>(),
        workspace_id: workspace.id,
        url: valid.url,
        secret: 'whsec_none',
        events: valid.events,
      })),
    )
    .execute();
  const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', '', valid)));
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(5);
  for (const { status, body } of refused) {
    expect([status, body.details]).toEqual([409, { reason: 'endpoint_limit' }]);
  }
  const { endpoints } = (await call('GET')).body;
  expect(endpoints).toHaveLength(100);
  await call('DELETE', `/${endpoints[0].id}`);
  expect((await call('POST', '', valid)).status).toBe(201);
  expect((await call('POST', '', valid)).status).toBe(409);
  const neighbour = await service.workspace();
  const other = await service.call(neighbour.key, 'POST', `/api/workspaces/${neighbour.id}/webhooks`, valid);
  expect(other.status).toBe(201);
});

it('deletes endpoints while events fan out to them, without an error on either side', async () => {
  const statuses = new Set<number>();
  for (let round = 0; round < 30; round += 1) {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await call('POST', '', valid)).body.endpoint.id as string),
    );
    await Promise.all([
      ...[0, 1, 2, 3].map(async (delay) => {
        await sleep(delay);
        await emit(service, workspace);
      }),
      ...ids.map(async (id, index) => {
        await sleep(index);
        statuses.add((await call('DELETE', `/${id}`)).status);
      }),
    ]);
  }
  expect([...statuses]).toEqual([200]);
  expect((await call('GET')).body).toMatchObject({ endpoints: [], deliveries: [] });
});
