import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../src/db/database.ts';
import type { RoleId } from '../../src/ids.ts';
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
});
afterAll(async () => {
  await api.close();
  // A deadlock that a retry hid from the client would still be one. Backends report once a second.
  await sleep(1_500);
  const { rows } = await sql<{ deadlocks: number }>`
    SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`.execute(database.db);
  await database.drop();
  expect(rows).toEqual([{ deadlocks: 0 }]);
});

const countKeysAndRoles = async () => {
  const { rows } = await sql<{ count: number }>`
    SELECT (SELECT count(*) FROM api_keys) + (SELECT count(*) FROM roles) AS count`.execute(database.db);
  return rows[0]?.count;
};

const GIVING = [
  'api_keys.create',
  'api_keys.revoke',
  'roles.create',
  'roles.update',
  'articles.read',
] as const;

/** Each way of giving authority, as a request of the key that comes with it. */
async function waysToGive() {
  const roleId = await workspace.role(...GIVING);
  const { key, apiKey } = await workspace.keyOf(roleId);
  const other = await workspace.role('articles.read');
  const old = await workspace.keyOf(other);
  const requests = {
    'making a key': { method: 'POST', path: `${path}/api-keys`, body: { label: 'late', roleId: other } },
    'rotating a key': { method: 'POST', path: `${path}/api-keys/${old.apiKey.id}/rotate`, body: {} },
    'making a role': { method: 'POST', path: `${path}/roles`, body: { name: 'late', permissions: [] } },
    'editing a role': {
      method: 'PATCH',
      path: `${path}/roles/${other}`,
      body: { permissions: ['articles.read', 'roles.create'] },
    },
  } as const;
  return { roleId, key, apiKey, requests };
}
const WAYS = ['making a key', 'making a role', 'editing a role', 'rotating a key'] as const;

const revoke = (id: string) => api.call('DELETE', `${path}/api-keys/${id}`, { key: workspace.ownerKey });
/** Runs `change` and `use` at once: `use` begins before the change, made by another connection, is committed. */
async function whileUncommitted<Result>(
  change: (db: TestDatabase['db']) => Promise<unknown>,
  use: () => Promise<Result>,
): Promise<Result> {
  const other = createDatabase({ connectionString: database.url, poolSize: 1 });
  try {
    let using: Promise<Result> | undefined;
    await other.transaction().execute(async (tx) => {
      await change(tx);
      using = use();
      await sleep(300);
    });
    return await (using ?? use());
  } finally {
    await other.destroy();
  }
}

test.each(WAYS)('%s waits for a revocation that is being committed, and is 401', async (way) => {
  const { key, apiKey, requests } = await waysToGive();
  const { method, path: at, body } = requests[way];
  const before = await countKeysAndRoles();
  const answer = await whileUncommitted(
    (tx) => tx.updateTable('api_keys').set({ revoked_at: new Date() }).where('id', '=', apiKey.id).execute(),
    () => api.call(method, at, { key, body }),
  );
  expect([answer.status, await countKeysAndRoles()]).toEqual([401, before]);
});

test.each(WAYS)(
  "%s waits for an edit of the caller's role that is being committed, and is 403",
  async (way) => {
    const { key, roleId, requests } = await waysToGive();
    const { method, path: at, body } = requests[way];
    const before = await countKeysAndRoles();
    const answer = await whileUncommitted(
      (tx) => tx.updateTable('roles').set({ permissions: [] }).where('id', '=', roleId).execute(),
      () => api.call(method, at, { key, body }),
    );
    expect([answer.status, await countKeysAndRoles()]).toEqual([403, before]);
  },
);

test('keys that rotate and roles that edit each other at once never wait in a circle: 50 rounds', async () => {
  const roles = [await workspace.role(...GIVING), await workspace.role(...GIVING)] as const;
  for (let round = 0; round < 50; round += 1) {
    const [first, second] = [await workspace.keyOf(roles[0]), await workspace.keyOf(roles[1])];
    const rotate = (key: string, id: string) => api.call('POST', `${path}/api-keys/${id}/rotate`, { key });
    const edit = (key: string, id: RoleId) =>
      api.call('PATCH', `${path}/roles/${id}`, { key, body: { permissions: [...GIVING] } });
    const make = (key: string, roleId: RoleId) =>
      api.call('POST', `${path}/api-keys`, { key, body: { label: 'mutual', roleId } });
    const answers = await Promise.all([
      rotate(first.key, second.apiKey.id),
      rotate(second.key, first.apiKey.id),
      edit(first.key, roles[1]),
      edit(second.key, roles[0]),
      make(first.key, roles[1]),
      make(second.key, roles[0]),
      revoke(second.apiKey.id),
    ]);
    for (const { status } of answers) expect([200, 201, 401, 404]).toContain(status);
  }
});
