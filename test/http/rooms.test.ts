import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createArticleRoutes } from '../../src/articles/routes.ts';
import { createCategoryRoutes } from '../../src/categories/routes.ts';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { DEFAULT_HTTP_LIMITS } from '../../src/http/limits.ts';
import { createRooms } from '../../src/http/rooms.ts';
import { defineRoute } from '../../src/http/route.ts';
import { type ArticleId, newId } from '../../src/ids.ts';
import { createProject } from '../../src/projects/create.ts';
import { documentOf, paragraph } from '../articles/support.ts';
import { collectGarbage } from '../support/collect-garbage.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/wait.ts';
import { createWorkspace, edgeRoutes, startApi, type TestApi, type TestWorkspace } from './support/api.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const WAIT_MS = 400;
/** What counts as a second for the rates of bodies and responses. */
const RATE_TICK_MS = 15;

/** Takes a file, and does nothing with it. */
const keep = defineRoute(
  {
    method: 'put',
    path: '/api/workspaces/{workspaceId}/file',
    operationId: 'keep',
    summary: 'Keep',
    tags: ['Rooms'],
    scope: 'workspace',
    permissions: [],
    upload: { mediaTypes: ['image/png'], maxBytes: 20 * MIB },
    responses: { 200: { description: 'Kept.', schema: z.unknown() } },
  },
  async ({ bytes }) => ({ status: 200, body: { bytes: bytes.length } }),
);
const text = 'x'.repeat(20 * MIB);
const large = (['get', 'post'] as const).map((method) =>
  defineRoute(
    {
      method,
      path: '/api/large',
      operationId: `${method}Large`,
      summary: 'Large',
      tags: ['Rooms'],
      scope: 'caller',
      permissions: [],
      responses: { 200: { description: 'Much.', schema: z.unknown() } },
    },
    async () => ({ status: 200, body: { text } }),
  ),
);

let database: TestDatabase;
let db: Database;
let api: TestApi;
let workspaces: TestWorkspace[] = [];
const rooms = createRooms();
const sockets = new Set<Socket>();

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase({ connectionString: database.url });
  workspaces = await Promise.all(['A', 'B', 'C', 'D', 'E'].map((name) => createWorkspace(db, name)));
  const routes = [
    ...edgeRoutes(),
    ...createArticleRoutes(async () => undefined),
    ...createCategoryRoutes(),
    keep,
    ...large,
  ];
  const limits = { ...DEFAULT_HTTP_LIMITS, perKey: 0, perAddress: 0, largeBodyWaitMs: WAIT_MS };
  api = await startApi(db, { limits, rooms, rateTickMs: RATE_TICK_MS }, routes);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await api.close();
  await db.destroy();
  await database.drop();
});

const of = (index: number): TestWorkspace => {
  const workspace = workspaces[index];
  if (workspace === undefined) throw new Error(`there is no workspace ${index}`);
  return workspace;
};

/** Sends the beginning of a request, and reads nothing. */
function open(head: string, body: string | Buffer = ''): Socket {
  const socket = connect({ port: Number(new URL(api.url).port), host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(`${head}\r\nHost: x\r\n\r\n`);
  socket.write(body);
  sockets.add(socket);
  return socket;
}
const bearer = ({ ownerKey }: TestWorkspace): string => `\r\nAuthorization: Bearer ${ownerKey}`;
const startsToRespond = (socket: Socket) => once(socket, 'readable');
async function closeAll(): Promise<void> {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await eventually(
    async () => rooms.workspaces.held() + rooms.strangers.held(),
    (bytes) => bytes === 0,
  );
}

// contract.md A51
test('strangers who read nothing of the pages cost a tenant nothing', async () => {
  const readers = Array.from({ length: 100 }, (_, index) =>
    open(`GET ${index % 2 === 0 ? '/docs' : '/openapi.json'} HTTP/1.1`),
  );
  await Promise.all(readers.map(startsToRespond));
  expect([rooms.workspaces.held(), rooms.strangers.held()]).toEqual([0, 0]);
  const answer = await api.call('GET', '/api/large', { key: of(0).ownerKey });
  expect([answer.status, answer.text.length > text.length]).toEqual([200, true]);
  await closeAll();
});

// contract.md A50, A55 and A56
test('lists that are not read hold a page each, and a quarter of the room at most', async () => {
  const [a, b] = [of(0), of(1)];
  await sql`
    WITH made AS (
      INSERT INTO categories (id, workspace_id, primary_language)
      SELECT gen_random_uuid(), ${a.id}, 'zh' FROM generate_series(1, 10000) RETURNING id
    )
    INSERT INTO category_names (id, workspace_id, category_id, language, name, slug, name_key)
    SELECT gen_random_uuid(), ${a.id}, id, 'zh', rpad('', 72, '園') || left(id::text, 8), id::text, id::text FROM made`.execute(
    db,
  );
  const path = `/api/workspaces/${a.id}/categories`;
  const whole = await api.call('GET', path, { key: a.ownerKey });
  const { categories } = JSON.parse(whole.text);
  expect([
    whole.status,
    categories.length,
    new Set(categories.map(({ id }: { id: string }) => id)).size,
  ]).toEqual([200, 10_000, 10_000]);
  collectGarbage();
  const before = process.memoryUsage();
  const readers = Array.from({ length: 60 }, () => open(`GET ${path} HTTP/1.1${bearer(a)}`));
  await Promise.all(readers.map(startsToRespond));
  const begun = readers.filter((socket) => String(socket.read(12)) === 'HTTP/1.1 200');
  expect(begun.length).toBeGreaterThanOrEqual(40);
  expect(rooms.workspaces.held()).toBeLessThanOrEqual(24 * MIB);
  const other = await api.call('GET', '/api/large', { key: b.ownerKey });
  expect([other.status, (await api.call('GET', '/api/whoami', { key: a.ownerKey })).status]).toEqual([
    200, 200,
  ]);
  collectGarbage();
  const after = process.memoryUsage();
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(96 * MIB);
  await closeAll();
});

// contract.md A50 and A52
test('a response that is not read keeps its workspace from more, and a change is always answered', async () => {
  const [a, b] = [of(0), of(1)];
  await startsToRespond(open(`GET /api/large HTTP/1.1${bearer(a)}`));
  const statusFor = async ({ ownerKey: key }: TestWorkspace, method: string, path: string) =>
    (await api.call(method, path, { key })).status;
  const refused = await api.call('GET', '/api/large', { key: a.ownerKey });
  expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
    503,
    'SERVICE_UNAVAILABLE',
    '5',
  ]);
  expect(await statusFor(a, 'POST', '/api/large')).toBe(200);
  expect(await statusFor(a, 'GET', '/api/whoami')).toBe(200);
  expect(await statusFor(b, 'GET', '/api/large')).toBe(200);
  await closeAll();
  expect(await statusFor(a, 'GET', '/api/large')).toBe(200);
});

/** Uploads 20 MiB, of which so much is sent. */
const beginUpload = (workspace: TestWorkspace, sent: number): Socket =>
  open(
    `PUT /api/workspaces/${workspace.id}/file HTTP/1.1${bearer(workspace)}\r\nContent-Type: image/png\r\nContent-Length: ${20 * MIB}`,
    Buffer.alloc(sent),
  );
const upload = (workspace: TestWorkspace, bytes: number) =>
  api.call('PUT', `/api/workspaces/${workspace.id}/file`, {
    key: workspace.ownerKey,
    body: 'x'.repeat(bytes),
    headers: { 'content-type': 'image/png' },
  });

// contract.md A52 and A53
test('idle uploads hold nothing before they have begun, leave room for others, and end once somebody waits', async () => {
  for (const workspace of workspaces.slice(0, 4)) beginUpload(workspace, 10 * KIB);
  await sleep(100);
  expect(rooms.workspaces.held()).toBe(0);
  await closeAll();
  const responses = workspaces.slice(0, 4).map((workspace) => {
    const response = { text: '' };
    beginUpload(workspace, 200 * KIB)
      .on('data', (data) => {
        response.text += data;
      })
      .resume();
    return response;
  });
  await eventually(
    async () => rooms.workspaces.held(),
    (bytes) => bytes > 20 * MIB,
  );
  expect((await upload(of(4), 2 * MIB)).status).toBe(200);
  const whole = await upload(of(4), 20 * MIB);
  expect([whole.status, JSON.parse(whole.text)]).toEqual([200, { bytes: 20 * MIB }]);
  const ended = responses.filter(({ text }) => text !== '');
  expect(ended.length).toBeGreaterThan(0);
  for (const { text } of ended) {
    expect(text).toMatch(/^HTTP\/1.1 (?:408|503) /);
    expect(text).toContain(text.includes(' 408 ') ? '"code":"INVALID_REQUEST"' : 'SERVICE_UNAVAILABLE');
  }
  expect(ended.some(({ text }) => / 408 .+connection: close/is.test(text))).toBe(true);
  await closeAll();
});

// contract.md A53
test('a response that nobody reads is cut off while somebody waits for room, and only then', async () => {
  const a = of(0);
  const stalled = open(`GET /api/large HTTP/1.1${bearer(a)}`);
  await startsToRespond(stalled);
  let ended = false;
  stalled.once('close', () => {
    ended = true;
  });
  await sleep(80 * RATE_TICK_MS);
  expect([rooms.workspaces.held() > 20 * MIB - KIB, ended]).toEqual([true, false]);
  const statuses: number[] = [];
  await eventually(
    async () => {
      statuses.push((await api.call('GET', '/api/large', { key: a.ownerKey })).status);
      return statuses.at(-1);
    },
    (status) => status === 200,
  );
  await closeAll();
});

async function articleWith(workspace: TestWorkspace, document: object): Promise<ArticleId> {
  const { operator } = workspace;
  const projectId = await createProject(operator, { name: 'Test', languages: ['en'], primaryLanguage: 'en' });
  const key = workspace.ownerKey;
  const made = await api.call('POST', `/api/projects/${projectId}/articles`, {
    key,
    body: { title: 'Before', documentJson: document },
  });
  expect(made.status, made.text.slice(0, 300)).toBe(201);
  return JSON.parse(made.text).article.id;
}
const titleOf = async (id: ArticleId): Promise<string> =>
  (await db.selectFrom('articles').select('title').where('id', '=', id).executeTakeFirstOrThrow()).title;

// contract.md A52
test('a large change that finds no room is 503 and nothing was done', async () => {
  const a = of(0);
  const id = await articleWith(a, documentOf(paragraph('Short.')));
  const document = documentOf(
    ...Array.from({ length: 15 }, (_, index) => paragraph('x'.repeat(15_000), `p${index}`)),
  );
  const patch = (title: string) =>
    api.call('PATCH', `/api/articles/${id}`, { key: a.ownerKey, body: { title, documentJson: document } });
  const held = rooms.workspaces.open(a.id);
  await held.take(22 * MIB, { waitMs: 0 });
  const refused = await patch('Refused');
  expect([refused.status, refused.headers.get('retry-after'), await titleOf(id)]).toEqual([
    503,
    '5',
    'Before',
  ]);
  held.release();
  expect([(await patch('After')).status, await titleOf(id)]).toEqual([200, 'After']);
  await closeAll();
});

// contract.md A52
test('addresses that make a response long need room as well: without it a change is rolled back', async () => {
  const a = of(0);
  const assetId = newId();
  const images = Array.from({ length: 900 }, (_, index) => ({
    id: `i${index}`,
    type: 'image',
    assetId,
    altText: '',
  }));
  const id = await articleWith(a, documentOf(...images));
  await sql`
    INSERT INTO assets (id, workspace_id, article_id, role, content_hash, media_type, byte_size, file_name, alt_text)
    VALUES (${assetId}, ${a.id}, ${id}, 'inline', repeat('a', 64), 'image/png', 1, 'x', repeat('"', 1000))`.execute(
    db,
  );
  const [row] = await db.selectFrom('articles').select('bytes').where('id', '=', id).execute();
  expect(row?.bytes).toBeLessThan(200 * KIB);
  const held = rooms.workspaces.open(a.id);
  await held.take(20 * MIB, { waitMs: 0 });
  const rename = () =>
    api.call('PATCH', `/api/articles/${id}`, { key: a.ownerKey, body: { title: 'After' } });
  const read = () => api.call('GET', `/api/articles/${id}`, { key: a.ownerKey });
  expect([(await rename()).status, await titleOf(id), (await read()).status]).toEqual([503, 'Before', 503]);
  const waiting = read();
  await sleep(WAIT_MS / 4);
  held.release();
  const shown = await waiting;
  expect([shown.status, shown.text.length > 6 * MIB]).toEqual([200, true]);
  expect([(await rename()).status, await titleOf(id)]).toEqual([200, 'After']);
  await closeAll();
});

// contract.md A50
test('the bytes of an article are counted with every save', async () => {
  const a = of(0);
  const id = await articleWith(a, documentOf(paragraph('Müller & Söhne')));
  const counted = async () => {
    const { rows } = await sql<{ bytes: number; counted: number }>`
      SELECT bytes, octet_length(document::text) + octet_length(content_html) + octet_length(content_markdown) AS counted
      FROM articles WHERE id = ${id}`.execute(db);
    return rows[0];
  };
  const before = await counted();
  await api.call('PATCH', `/api/articles/${id}`, {
    key: a.ownerKey,
    body: { documentJson: documentOf(paragraph('園'.repeat(100))) },
  });
  const after = await counted();
  expect([before?.bytes, after?.bytes]).toEqual([before?.counted, after?.counted]);
  expect(after?.bytes).toBeGreaterThan((before?.bytes ?? 0) + 500);
});
