import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../src/db/database.ts';
import { createWorkspace, startApi, type TestApi, type TestWorkspace } from '../http/support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let api: TestApi;
/** A second process as far as the service is concerned: its own pool, its own server. */
let other: TestApi;
let otherDb: TestDatabase['db'];
let workspace: TestWorkspace;

beforeAll(async () => {
  database = await createTestDatabase();
  otherDb = createDatabase({ connectionString: database.url, poolSize: 20 });
  api = await startApi(database.db);
  other = await startApi(otherDb);
  workspace = await createWorkspace(database.db);
});
afterAll(async () => {
  await Promise.all([api.close(), other.close()]);
  await otherDb.destroy();
  await database.drop();
});

const liveKeys = async (): Promise<{ id: string; role_id: string | null }[]> =>
  database.db
    .selectFrom('api_keys')
    .select(['id', 'role_id'])
    .where('workspace_id', '=', workspace.id)
    .where('revoked_at', 'is', null)
    .execute();

// contract.md K11
test('of 20 rotations of one key at once exactly one wins, and one live key remains', async () => {
  for (let round = 0; round < 5; round += 1) {
    const before = (await liveKeys()).length;
    const { apiKey, key } = await workspace.keyOf(workspace.roles.owner);
    const path = `/api/workspaces/${workspace.id}/api-keys/${apiKey.id}/rotate`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? api : other).call('POST', path, {
          // Half of them with the very key that is being rotated away.
          key: index % 4 < 2 ? workspace.ownerKey : key,
        }),
      ),
    );
    const won = answers.filter(({ status }) => status === 201);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404 || status === 401)).toHaveLength(19);
    expect(await liveKeys()).toHaveLength(before + 1);
    expect((await api.call('GET', '/api/whoami', { key: won[0]?.body.key ?? '' })).status).toBe(200);
  }
});

// contract.md K7
test('no key of a deleted role is ever live: 100 rounds of making keys while the role is deleted', async () => {
  const outcomes = new Map<string, number>();
  for (let round = 0; round < 100; round += 1) {
    const roleId = await workspace.role('articles.read');
    const create = (target: TestApi) =>
      target.call('POST', `/api/workspaces/${workspace.id}/api-keys`, {
        key: workspace.ownerKey,
        body: { label: 'race', roleId },
      });
    const remove = () =>
      other.call('DELETE', `/api/workspaces/${workspace.id}/roles/${roleId}`, { key: workspace.ownerKey });
    const creating = create(api);
    // The deletion mostly wins: now and then it comes late, so that both ends are seen.
    const removing = round % 10 === 0 ? creating.then(remove) : remove();
    const [first, removed, second] = await Promise.all([creating, removing, create(other)]);
    for (const made of [first, second]) {
      const outcome = `${made.status} ${made.body.details?.reason ?? made.body.code ?? 'made'}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      expect(['201 made', '409 role_deleted', '400 INVALID_REQUEST']).toContain(outcome);
      if (made.status === 201) {
        expect(removed.status).toBe(409);
        expect(removed.body.details?.reason).toBe('role_in_use');
        expect((await api.call('GET', '/api/whoami', { key: made.body.key })).status).toBe(200);
      }
    }
    expect([200, 409]).toContain(removed.status);
  }
  expect((await liveKeys()).filter(({ role_id }) => role_id === null)).toEqual([]);
  expect(outcomes.get('201 made') ?? 0).toBeGreaterThan(0);
});

test('a role edited and a key revoked in one process hold for the next request in another', async () => {
  const roleId = await workspace.role('api_keys.read');
  const { apiKey, key } = await workspace.keyOf(roleId);
  const path = `/api/workspaces/${workspace.id}`;
  expect((await other.call('GET', `${path}/api-keys`, { key })).status).toBe(200);
  await api.call('PATCH', `${path}/roles/${roleId}`, {
    key: workspace.ownerKey,
    body: { permissions: ['roles.read'] },
  });
  expect((await other.call('GET', `${path}/api-keys`, { key })).status).toBe(403);
  expect((await other.call('GET', `${path}/roles`, { key })).status).toBe(200);
  await api.call('DELETE', `${path}/api-keys/${apiKey.id}`, { key: workspace.ownerKey });
  expect((await other.call('GET', `${path}/roles`, { key })).status).toBe(401);
});
