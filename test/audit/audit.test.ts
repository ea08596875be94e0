import { afterAll, beforeAll, expect, test } from 'vitest';
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
  path = `/api/workspaces/${workspace.id}/audit`;
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

const read = (query = '', key = workspace.ownerKey) => api.call('GET', path + query, { key });

test('pages follow each other newest first, without gap or repeat, also while entries are written', async () => {
  for (let index = 0; index < 25; index += 1) await workspace.role('articles.read');
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await read(`?limit=7${cursor === null ? '' : `&cursor=${cursor}`}`);
    expect(page.status).toBe(200);
    expect(page.body.entries.length).toBeLessThanOrEqual(7);
    for (const { id } of page.body.entries) seen.push(id);
    cursor = page.body.nextCursor;
    await workspace.role('articles.read');
  } while (cursor !== null);
  const stored = await database.db
    .selectFrom('audit_entries')
    .select('id')
    .where('workspace_id', '=', workspace.id)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  expect(seen).toEqual(stored.slice(-seen.length).map(({ id }) => id));
  expect(seen.length).toBeGreaterThanOrEqual(26);
});

test('entries of one millisecond, as of one rotation, are read in the order they were written', async () => {
  const { apiKey } = await workspace.keyOf(workspace.roles.editor);
  let id = apiKey.id as string;
  for (let round = 0; round < 20; round += 1) {
    const rotated = await api.call('POST', `/api/workspaces/${workspace.id}/api-keys/${id}/rotate`, {
      key: workspace.ownerKey,
    });
    id = rotated.body.apiKey.id;
  }
  // As if the clock had stood still all the while.
  await database.db
    .updateTable('audit_entries')
    .set({ created_at: new Date() })
    .where('action', 'in', ['api_keys.created', 'api_keys.revoked'])
    .execute();
  const { entries } = (await read('?limit=40')).body;
  expect(entries.map(({ action }) => action)).toEqual(
    Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 'api_keys.created' : 'api_keys.revoked')),
  );
});

// contract.md K14
test('an entry records who did what to which target in which request', async () => {
  const made = await api.call('POST', `/api/workspaces/${workspace.id}/api-keys`, {
    key: workspace.ownerKey,
    body: { label: 'watched', roleId: workspace.roles.editor },
    headers: { 'x-request-id': 'trace-7' },
  });
  const [entry] = (await read('?limit=1')).body.entries;
  expect(entry).toEqual({
    id: expect.any(String),
    action: 'api_keys.created',
    actor: { kind: 'api_key', id: workspace.ownerKeyId },
    targetType: 'api_key',
    targetId: made.body.apiKey.id,
    details: {
      label: 'watched',
      prefix: made.body.apiKey.prefix,
      roleId: workspace.roles.editor,
      expiresAt: null,
    },
    requestId: 'trace-7',
    createdAt: expect.stringMatching(/\.\d{3}Z$/),
  });
});

test('a bad limit or cursor is 400 and names the parameter', async () => {
  for (const [query, pointer] of [
    ['?limit=0', 'query/limit'],
    ['?limit=101', 'query/limit'],
    ['?limit=ten', 'query/limit'],
    ['?limit=1&limit=2', 'query/limit'],
    ['?cursor=nonsense', 'query/cursor'],
    ['?cursor=%00', 'query/cursor'],
    ['?cursor=', 'query/cursor'],
  ] as const) {
    const response = await read(query);
    expect([query, response.status, response.body.errors?.[0]?.pointer]).toEqual([query, 400, pointer]);
  }
  expect((await read('?unknown=1')).status).toBe(200);
});

test('another workspace sees nothing', async () => {
  const stranger = await createWorkspace(database.db, 'Stranger');
  expect((await read('', stranger.ownerKey)).status).toBe(404);
  const own = await api.call('GET', `/api/workspaces/${stranger.id}/audit`, { key: stranger.ownerKey });
  expect(own.body.entries.map(({ action }) => action)).toEqual(['api_keys.created', 'workspaces.created']);
});
