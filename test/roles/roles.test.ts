import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import { BUILT_IN_ROLES } from '../../src/permissions.ts';
import { createWorkspace, startApi, type TestApi, type TestWorkspace } from '../http/support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let api: TestApi;
let workspace: TestWorkspace;
let path: string;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApi(database.db);
  workspace = await createWorkspace(database.db);
  path = `/api/workspaces/${workspace.id}/roles`;
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

const asOwner = (method: string, suffix = '', body?: unknown) =>
  api.call(method, path + suffix, { key: workspace.ownerKey, body });
const create = async (name: string, ...permissions: string[]) =>
  (await asOwner('POST', '', { name, permissions })).body.role;

test('a workspace is born with Owner, Admin and Editor, which can be neither edited nor deleted', async () => {
  const { roles } = (await asOwner('GET')).body;
  expect(roles.map(({ name, builtIn }) => [name, builtIn])).toEqual([
    ['Admin', true],
    ['Editor', true],
    ['Owner', true],
  ]);
  expect(roles.find(({ name }) => name === 'Editor')?.permissions).toEqual(
    [...BUILT_IN_ROLES.editor.permissions].sort(),
  );
  for (const { id } of roles) {
    for (const response of [
      await asOwner('DELETE', `/${id}`),
      await asOwner('PATCH', `/${id}`, { name: 'x' }),
    ]) {
      expect([response.status, response.body.details]).toEqual([409, { reason: 'built_in_role' }]);
    }
  }
});

test('a role is created with sorted permissions, renamed, given others, deleted, and each is in the audit', async () => {
  const created = await asOwner('POST', '', {
    name: ' Reviewer ',
    permissions: ['articles.review', 'articles.read', 'articles.read'],
  });
  expect(created.status).toBe(201);
  const { role } = created.body;
  expect(role).toMatchObject({
    name: 'Reviewer',
    permissions: ['articles.read', 'articles.review'],
    builtIn: false,
  });
  const renamed = await asOwner('PATCH', `/${role.id}`, { name: 'Reader', permissions: null });
  expect(renamed.body.role).toMatchObject({ name: 'Reader', permissions: role.permissions });
  const narrowed = await asOwner('PATCH', `/${role.id}`, { permissions: ['articles.read'] });
  expect(narrowed.body.role).toMatchObject({ name: 'Reader', permissions: ['articles.read'] });
  const removed = await asOwner('DELETE', `/${role.id}`);
  expect([removed.status, removed.text]).toEqual([200, '{"ok":true}']);
  expect((await asOwner('DELETE', `/${role.id}`)).status).toBe(404);
  const entries = await database.db
    .selectFrom('audit_entries')
    .select('action')
    .where('target_id', '=', role.id)
    .orderBy('created_at')
    .execute();
  expect(entries.map(({ action }) => action)).toEqual([
    'roles.created',
    'roles.updated',
    'roles.updated',
    'roles.deleted',
  ]);
});

test('bad roles are refused with the field that is bad', async () => {
  const { id } = await create('Target');
  const cases: [string, string, unknown, string][] = [
    ['POST', '', { permissions: [] }, '/name'],
    ['POST', '', { name: 'x' }, '/permissions'],
    ['POST', '', { name: 'x', permissions: ['articles.read', 'articles.fly'] }, '/permissions/1'],
    ['POST', '', { name: 'x'.repeat(121), permissions: [] }, '/name'],
    ['PATCH', `/${id}`, { permissions: 'all' }, '/permissions'],
    ['PATCH', `/${id}`, {}, ''],
    ['PATCH', `/${id}`, { name: null, permissions: null }, ''],
    ['PATCH', `/${id}`, [], ''],
  ];
  for (const [method, suffix, body, pointer] of cases) {
    const response = await asOwner(method, suffix, body);
    expect([response.status, response.body.errors?.[0]?.pointer]).toEqual([400, pointer]);
  }
  await create('Taken');
  for (const response of [
    await asOwner('POST', '', { name: 'Taken', permissions: [] }),
    await asOwner('PATCH', `/${id}`, { name: ' Taken' }),
  ]) {
    expect([response.status, response.body.details]).toEqual([409, { reason: 'name_taken' }]);
  }
});

// contract.md A11
test('no caller gives a role permissions they lack', async () => {
  const key = await workspace.keyWith('roles.create', 'roles.update', 'articles.read');
  const wide = { name: 'Wide', permissions: ['workspaces.delete', 'audit.read', 'articles.read'] };
  const { id } = await create('Narrow', 'articles.read');
  for (const [method, suffix] of [
    ['POST', ''],
    ['PATCH', `/${id}`],
  ] as const) {
    const response = await api.call(method, path + suffix, { key, body: wide });
    expect(response.status).toBe(403);
    expect(response.body.details).toEqual({ permissions: ['audit.read', 'workspaces.delete'] });
  }
  const allowed = await api.call('PATCH', `${path}/${id}`, { key, body: { permissions: ['roles.update'] } });
  expect(allowed.status).toBe(200);
});

// contract.md K13
test('a role that a live key uses cannot be deleted', async () => {
  const { id } = await create('Used', 'articles.read');
  await workspace.keyOf(id);
  const refused = await asOwner('DELETE', `/${id}`);
  expect([refused.status, refused.body.details]).toEqual([409, { reason: 'role_in_use' }]);
});

test('dead keys of a deleted role stay listed without it', async () => {
  const { id } = await create('Deleted', 'articles.read');
  const revoked = await workspace.keyOf(id);
  const expired = await workspace.keyOf(id, new Date('2020-01-01T00:00:00Z'));
  const keys = `/api/workspaces/${workspace.id}/api-keys`;
  await api.call('DELETE', `${keys}/${revoked.apiKey.id}`, { key: workspace.ownerKey });
  expect((await asOwner('DELETE', `/${id}`)).status).toBe(200);
  const { apiKeys } = (await api.call('GET', keys, { key: workspace.ownerKey })).body;
  for (const dead of [revoked, expired]) {
    expect(apiKeys.find((item) => item.id === dead.apiKey.id)?.roleId).toBeNull();
  }
});

test('the operator makes keys of any role of the workspace, and of no other', async () => {
  const stranger = await createWorkspace(database.db, 'Stranger');
  await expect(
    createApiKey(workspace.operator, { label: 'x', roleId: stranger.roles.editor }),
  ).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  expect((await asOwner('PATCH', `/${stranger.roles.editor}`, { name: 'mine' })).status).toBe(404);
});

test('names are compared in any case: a role made or renamed into another one is 409, its own may change case', async () => {
  const support = await create('Straße');
  for (const name of ['STRASSE', 'straẞe', 'OWNER', 'EDITOR']) {
    const response = await asOwner('POST', '', { name, permissions: [] });
    expect([name, response.status, response.body.details]).toEqual([name, 409, { reason: 'name_taken' }]);
  }
  const other = await create('Gasse');
  expect((await asOwner('PATCH', `/${other.id}`, { name: 'strasse' })).body.details).toEqual({
    reason: 'name_taken',
  });
  expect((await asOwner('PATCH', `/${support.id}`, { name: 'STRASSE' })).body.role.name).toBe('STRASSE');
  const race = await Promise.all(
    ['Editors', 'EDITORS', 'editors'].map((name) => asOwner('POST', '', { name, permissions: [] })),
  );
  expect(race.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
});

// contract.md A21
test('a workspace has room for 1,000 roles, however many are made at once', async () => {
  const own = await createWorkspace(database.db, 'Many');
  await sql`
    INSERT INTO roles (id, workspace_id, name, name_key, permissions, built_in)
    SELECT gen_random_uuid(), ${own.id}, 'r' || number, 'r' || number, '{}', false
    FROM generate_series(1, 995) AS number`.execute(database.db);
  const made = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((name) =>
      api.call('POST', `/api/workspaces/${own.id}/roles`, {
        key: own.ownerKey,
        body: { name, permissions: [] },
      }),
    ),
  );
  expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409]);
  expect(made.find(({ status }) => status === 409)?.body.details).toEqual({ reason: 'role_limit' });
});
