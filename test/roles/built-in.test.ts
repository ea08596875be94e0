import { afterAll, beforeAll, expect, test } from 'vitest';
import { BUILT_IN_ROLES, PERMISSIONS } from '../../src/permissions.ts';
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
  path = `/api/workspaces/${workspace.id}`;
  // As a release wrote them that knew neither roles nor the audit log.
  await database.db
    .updateTable('roles')
    .set({ permissions: ['api_keys.create', 'articles.read'] })
    .where('built_in', '=', true)
    .execute();
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

const asOwner = (method: string, suffix: string, body?: unknown) =>
  api.call(method, path + suffix, { key: workspace.ownerKey, body });

test('a permission that came with an upgrade is held by the built-in roles at once, shown, and can be granted', async () => {
  expect((await api.call('GET', '/api/whoami', { key: workspace.ownerKey })).body.permissions).toEqual([
    ...PERMISSIONS,
  ]);
  expect((await asOwner('GET', '/audit')).status).toBe(200);
  const { roles } = (await asOwner('GET', '/roles')).body;
  expect(new Map(roles.map(({ name, permissions }) => [name, permissions]))).toEqual(
    new Map(Object.values(BUILT_IN_ROLES).map(({ name, permissions }) => [name, [...permissions].sort()])),
  );
  const made = await asOwner('POST', '/roles', { name: 'Auditor', permissions: ['audit.read'] });
  expect(made.status).toBe(201);
  const { key } = (await asOwner('POST', '/api-keys', { label: 'a', roleId: made.body.role.id })).body;
  expect((await api.call('GET', `${path}/audit`, { key })).status).toBe(200);
});

test('no caller grants the built-in Owner by what its row still says', async () => {
  const narrow = await workspace.keyWith('api_keys.create', 'articles.read');
  const response = await api.call('POST', `${path}/api-keys`, {
    key: narrow,
    body: { label: 'too much', roleId: workspace.roles.owner },
  });
  expect([response.status, response.body.details?.permissions?.includes('roles.update')]).toEqual([
    403,
    true,
  ]);
});

test('a role that holds what only a later release knows is not granted by one who may not hold it', async () => {
  const roleId = await workspace.role('articles.read');
  await database.db
    .updateTable('roles')
    .set({ permissions: ['articles.read', 'later.permission'] })
    .where('id', '=', roleId)
    .execute();
  const narrow = await workspace.keyWith('api_keys.create', 'articles.read');
  const response = await api.call('POST', `${path}/api-keys`, { key: narrow, body: { label: 'x', roleId } });
  expect([response.status, response.body.details]).toEqual([403, { permissions: ['later.permission'] }]);
});
