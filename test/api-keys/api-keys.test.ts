import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CreatedApiKey } from '../../src/api-keys/create.ts';
import { createWorkspace, startApi, type TestApi, type TestWorkspace } from '../http/support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let api: TestApi;
let workspace: TestWorkspace;
let stranger: TestWorkspace;
let path: string;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApi(database.db);
  workspace = await createWorkspace(database.db);
  stranger = await createWorkspace(database.db, 'Stranger');
  path = `/api/workspaces/${workspace.id}/api-keys`;
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

const list = async () => (await api.call('GET', path, { key: workspace.ownerKey })).body.apiKeys;
const item = async (id: string) => {
  const found = (await list()).find((key) => key.id === id);
  if (found === undefined) throw new Error(`key ${id} is not listed`);
  return found;
};
const rotate = (id: string, key = workspace.ownerKey) => api.call('POST', `${path}/${id}/rotate`, { key });
const auditOf = (id: string) =>
  database.db
    .selectFrom('audit_entries')
    .select(['action', 'actor_kind', 'actor_id', 'request_id'])
    .where('target_id', '=', id)
    .orderBy('created_at')
    .execute();

// contract.md K1
test('a created key works at once, is shown once, and is listed without its secret', async () => {
  const created = await api.call('POST', path, {
    key: workspace.ownerKey,
    body: { label: '  Publishing site  ', roleId: workspace.roles.editor.toUpperCase(), extra: 1 },
  });
  expect(created.status).toBe(201);
  const { apiKey, key }: CreatedApiKey = created.body;
  expect(created.body).toEqual({
    apiKey: { id: expect.any(String), prefix: key.slice(0, 16), label: 'Publishing site' },
    key: expect.stringMatching(/^wcsk_\w{49}$/),
  });
  expect(await item(apiKey.id)).toEqual({
    ...apiKey,
    roleId: workspace.roles.editor,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
  });
  const me = await api.call('GET', '/api/whoami', { key });
  expect(me.body).toMatchObject({
    workspace: { id: workspace.id, name: 'Acme' },
    role: { id: workspace.roles.editor, name: 'Editor' },
    apiKey: { id: apiKey.id, prefix: apiKey.prefix },
    limits: { requestsPerMinute: { key: 6000, workspace: 24000 } },
  });
  expect(me.body.permissions).toContain('articles.generate');
  expect(await auditOf(apiKey.id)).toEqual([
    {
      action: 'api_keys.created',
      actor_kind: 'api_key',
      actor_id: workspace.ownerKeyId,
      request_id: created.headers.get('x-request-id'),
    },
  ]);
});

// contract.md K4
test('a label is 1 to 120 code points after trimming', async () => {
  const create = (label: unknown) =>
    api.call('POST', path, { key: workspace.ownerKey, body: { label, roleId: workspace.roles.editor } });
  for (const bad of ['', ' \t ', 'x'.repeat(121), '💡'.repeat(121), 7, null, ['x']]) {
    const { status, body } = await create(bad);
    expect(status).toBe(400);
    expect(body.errors).toEqual([{ pointer: '/label', detail: expect.any(String) }]);
  }
  const longest = await create(` ${'💡'.repeat(120)} `);
  expect(longest.status).toBe(201);
  expect(longest.body.apiKey.label).toBe('💡'.repeat(120));
  expect((await create('e\u0301')).body.apiKey.label).toBe('\u00e9');
});

const createDated = (expiresAt: unknown) =>
  api.call('POST', path, {
    key: workspace.ownerKey,
    body: { label: 'dated', roleId: workspace.roles.editor, expiresAt },
  });

// contract.md K6
test('a past expiresAt gives a key that is already expired, and is shown in UTC', async () => {
  const past = await createDated('2020-02-29T23:30:00.1239+02:00');
  expect(past.status).toBe(201);
  expect((await item(past.body.apiKey.id)).expiresAt).toBe('2020-02-29T21:30:00.123Z');
  expect((await api.call('GET', '/api/whoami', { key: past.body.key })).status).toBe(401);

  const future = await createDated(new Date(Date.now() + 60_000).toISOString());
  expect((await api.call('GET', '/api/whoami', { key: future.body.key })).status).toBe(200);
  expect((await createDated(null)).status).toBe(201);
});

test('an expiresAt that is no date and time with an offset is refused', async () => {
  for (const bad of [
    '2021-02-29T00:00:00Z',
    '2021-01-01',
    '2021-01-01T00:00:00',
    'soon',
    5,
    '2021-13-01T00:00:00Z',
  ]) {
    const response = await createDated(bad);
    expect(response.status).toBe(400);
    expect(response.body.errors?.[0]?.pointer).toBe('/expiresAt');
  }
});

// contract.md K5
test('a key is refused for a role of another workspace (400) and for one broader than the caller (403)', async () => {
  const create = (roleId: string, key: string) =>
    api.call('POST', path, { key, body: { label: 'x', roleId } });
  const foreign = await create(stranger.roles.editor, workspace.ownerKey);
  expect(foreign.status).toBe(400);
  expect(foreign.body).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ pointer: '/roleId' }] });

  const limited = await workspace.keyWith('api_keys.create', 'articles.read');
  const role = await workspace.role('roles.update', 'articles.read', 'audit.read');
  const broader = await create(role, limited);
  expect(broader.status).toBe(403);
  expect(broader.body).toMatchObject({
    code: 'FORBIDDEN',
    details: { permissions: ['audit.read', 'roles.update'] },
  });
});

// contract.md K3 and K8
test('a revoked key stops at once, stays listed, and cannot be revoked or rotated again', async () => {
  const { apiKey, key } = await workspace.keyOf(workspace.roles.editor);
  const revoke = () => api.call('DELETE', `${path}/${apiKey.id}`, { key: workspace.ownerKey });
  const first = await revoke();
  expect([first.status, first.body]).toEqual([200, { ok: true }]);
  expect((await api.call('GET', '/api/whoami', { key })).status).toBe(401);
  expect((await item(apiKey.id)).revokedAt).toMatch(/Z$/);
  for (const again of [await revoke(), await rotate(apiKey.id)]) {
    expect(again.status).toBe(404);
    expect(again.body.code).toBe('RESOURCE_NOT_FOUND');
  }
  expect((await auditOf(apiKey.id)).map(({ action }) => action)).toEqual([
    'api_keys.created',
    'api_keys.revoked',
  ]);
});

// contract.md K9
test('rotation carries label, role and expiry over and leaves no moment with two live keys', async () => {
  const expiresAt = new Date(Date.now() + 3_600_000);
  const { apiKey: old, key: oldKey } = await workspace.keyOf(workspace.roles.editor, expiresAt);
  const rotated = await rotate(old.id);
  expect(rotated.status).toBe(201);
  const { apiKey, key } = rotated.body;
  expect(apiKey).toEqual({ id: expect.any(String), prefix: key.slice(0, 16), label: old.label });
  expect(await item(apiKey.id)).toMatchObject({
    roleId: workspace.roles.editor,
    expiresAt: expiresAt.toISOString(),
    revokedAt: null,
  });
  expect((await item(old.id)).revokedAt).not.toBeNull();
  expect((await api.call('GET', '/api/whoami', { key: oldKey })).status).toBe(401);
  expect((await api.call('GET', '/api/whoami', { key })).status).toBe(200);
  expect((await auditOf(old.id)).at(-1)?.action).toBe('api_keys.revoked');
  expect((await auditOf(apiKey.id)).map(({ action }) => action)).toEqual(['api_keys.created']);
});

// contract.md K10
test('rotate looks for an unknown key first, then its role, then its expiry, then the caller', async () => {
  const limited = await workspace.keyWith('api_keys.create', 'api_keys.revoke');
  const past = new Date('2020-01-01T00:00:00Z');
  const foreign = await stranger.keyOf(stranger.roles.editor, past);
  for (const id of [foreign.apiKey.id, workspace.id, 'no-uuid']) {
    expect((await rotate(id, limited)).status).toBe(404);
  }
  const doomed = await workspace.role('articles.read');
  const orphan = await workspace.keyOf(doomed, past);
  const roles = `/api/workspaces/${workspace.id}/roles`;
  expect((await api.call('DELETE', `${roles}/${doomed}`, { key: workspace.ownerKey })).status).toBe(200);
  expect((await item(orphan.apiKey.id)).roleId).toBeNull();
  const withoutRole = await rotate(orphan.apiKey.id, limited);
  expect([withoutRole.status, withoutRole.body.details]).toEqual([409, { reason: 'role_deleted' }]);

  const expired = await workspace.keyOf(workspace.roles.owner, past);
  const dead = await rotate(expired.apiKey.id, limited);
  expect([dead.status, dead.body.code]).toEqual([400, 'INVALID_REQUEST']);
  expect((await item(expired.apiKey.id)).revokedAt).toBeNull();

  const live = await workspace.keyOf(workspace.roles.editor);
  const tooBroad = await rotate(live.apiKey.id, limited);
  expect(tooBroad.status).toBe(403);
  expect(tooBroad.body.details?.permissions).toContain('articles.generate');
  expect((await item(live.apiKey.id)).revokedAt).toBeNull();
});

// contract.md K12
test('lastUsedAt is written in a batch, never backwards, and only for requests that authenticated', async () => {
  const { apiKey, key } = await workspace.keyOf(workspace.roles.editor);
  expect((await api.call('GET', path, { key })).status).toBe(403);
  expect((await item(apiKey.id)).lastUsedAt).toBeNull();
  await api.lastUsed.flush();
  const first = (await item(apiKey.id)).lastUsedAt;
  expect(Math.abs(Date.parse(first ?? '') - Date.now())).toBeLessThan(10_000);

  const later = '2099-01-01T00:00:00.000Z';
  await database.db
    .updateTable('api_keys')
    .set({ last_used_at: later })
    .where('id', '=', apiKey.id)
    .execute();
  await api.call('GET', '/api/whoami', { key });
  await api.lastUsed.flush();
  expect((await item(apiKey.id)).lastUsedAt).toBe(later);
});

test('no log line, audit entry or later response holds a raw key or its hash', async () => {
  const made = await api.call('POST', path, {
    key: workspace.ownerKey,
    body: { label: 'secret', roleId: workspace.roles.editor },
  });
  const rotated = await rotate(made.body.apiKey.id);
  await api.call('DELETE', `${path}/${made.body.key}`, { key: workspace.ownerKey });
  await api.call('GET', `/api/workspaces/${rotated.body.key}/api-keys?key=${rotated.body.key}`, {
    key: rotated.body.key,
    headers: { 'x-request-id': rotated.body.key },
  });
  const audit = await database.db.selectFrom('audit_entries').selectAll().execute();
  const places = [
    api.log.join(''),
    JSON.stringify(audit),
    JSON.stringify(await list()),
    (await api.call('GET', `/api/workspaces/${workspace.id}/audit`, { key: workspace.ownerKey })).text,
  ];
  for (const { key } of [made.body, rotated.body, { key: workspace.ownerKey }]) {
    const hash = createHash('sha256').update(key).digest();
    for (const secret of [key, key.slice(17), hash.toString('hex'), hash.toString('base64')]) {
      for (const place of places) expect(place.includes(secret)).toBe(false);
    }
  }
});
