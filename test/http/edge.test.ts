import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createDatabase } from '../../src/db/database.ts';
import { DEFAULT_HTTP_LIMITS } from '../../src/http/limits.ts';
import { ERROR_CODES, problemSlug } from '../../src/http/problems.ts';
import { defineRoute } from '../../src/http/route.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createWorkspace, edgeRoutes, startApi, type TestApi, type TestWorkspace } from './support/api.ts';

const LIMIT = 64 * 1024;

/** Echoes what reached the handler. */
const echo = defineRoute(
  {
    method: 'post',
    path: '/api/workspaces/{workspaceId}/echo',
    operationId: 'echo',
    summary: 'Echo',
    tags: ['Echo'],
    scope: 'workspace',
    permissions: ['roles.read'],
    body: z.object({
      text: z.string(),
      note: z.string().max(10).optional(),
      items: z.array(z.object({ count: z.number().optional() })).default([]),
      clearable: z.string().nullable().optional(),
    }),
    responses: { 200: { description: 'The same.', schema: z.unknown() } },
  },
  async ({ body }) => ({ status: 200, body: { echoed: body, polluted: 'polluted' in {} } }),
);
const broken = defineRoute(
  {
    method: 'get',
    path: '/api/broken',
    operationId: 'broken',
    summary: 'Always fails',
    tags: ['Echo'],
    scope: 'caller',
    permissions: [],
    responses: { 200: { description: 'Never.', schema: z.unknown() } },
  },
  async () => {
    throw new Error('leak: wcsk_abcdefghijklmnop at postgres://user:password@host');
  },
);

let database: TestDatabase;
let api: TestApi;
let workspace: TestWorkspace;
let path: string;
let databaseIsUp = true;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApi(
    database.db,
    {
      limits: { ...DEFAULT_HTTP_LIMITS, bodyBytes: LIMIT, authFailures: 0 },
      readiness: {
        database: async () => {
          if (!databaseIsUp) throw new Error('connect ECONNREFUSED secret-host');
        },
      },
    },
    [...edgeRoutes(), echo, broken],
  );
  workspace = await createWorkspace(database.db);
  path = `/api/workspaces/${workspace.id}/echo`;
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

const post = (body: unknown, headers: Record<string, string> = {}) =>
  api.call('POST', path, { key: workspace.ownerKey, body, headers });

/** Sends bytes as they are, and returns all that comes back until the server closes or falls silent. */
const raw = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(api.url);
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.setTimeout(2_000, () => socket.destroy());
    socket.on('data', (chunk) => {
      received += chunk.toString();
    });
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
  });

test('checks run in order: key, workspace, permission, body', async () => {
  const weak = await workspace.keyWith('articles.read');
  const stranger = await createWorkspace(database.db, 'Stranger');
  const wrong = { body: '{', headers: { 'content-type': 'text/plain' } };
  const at = async (key: string, where: string) => (await api.call('POST', where, { key, ...wrong })).status;
  expect(await at('nonsense', `/api/workspaces/nonsense/echo`)).toBe(401);
  expect(await at(weak, `/api/workspaces/nonsense/echo`)).toBe(404);
  expect(await at(weak, `/api/workspaces/${stranger.id}/echo`)).toBe(404);
  expect(await at(weak, path)).toBe(403);
  expect(await at(workspace.ownerKey, path)).toBe(415);
  expect((await post('{')).status).toBe(400);
  expect((await post({ text: 'ok' })).status).toBe(200);
  expect(
    (
      await api.call(
        'POST',
        path.toUpperCase().replace('/API/WORKSPACES', '/api/workspaces').replace('/ECHO', '/echo'),
        { key: workspace.ownerKey, body: { text: 'x' } },
      )
    ).status,
  ).toBe(200);
});

test('an error is a problem document with its code, its page and the id of the request', async () => {
  const answer = await post({ text: 7, note: 'far too long for a note', items: [{ count: 'x' }, 1] });
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.body).toEqual({
    type: '/docs/errors/invalid-request',
    title: 'Invalid request',
    status: 400,
    detail: '4 fields are invalid; see errors.',
    code: 'INVALID_REQUEST',
    requestId: answer.headers.get('x-request-id'),
    errors: ['/text', '/note', '/items/0/count', '/items/1'].map((pointer) => ({
      pointer,
      detail: expect.stringMatching(/\.$/),
    })),
  });
  const refused = await api.call('GET', '/api/whoami');
  expect(refused.status).toBe(401);
  expect(refused.headers.get('www-authenticate')).toBe('Bearer');
  for (const code of ERROR_CODES) {
    const page = await api.call('GET', `/docs/errors/${problemSlug(code)}`);
    expect(page.status).toBe(200);
    expect(page.text).toContain(code);
  }
  expect((await api.call('GET', '/docs/errors/..%2f..%2fpackage')).status).toBe(404);
});

test('what JSON can say but Postgres cannot keep is 400 and names the field', async () => {
  const cases: [string, string | undefined][] = [
    ['{"text":"a\\u0000b"}', '/text'],
    ['{"text":"\\ud800"}', '/text'],
    ['{"text":"x","items":[{"count":1e400}]}', '/items/0/count'],
    ['{"text":"x","unknown":{"de\\u0000ep":1}}', '/unknown'],
    ['{"text":"x","a/b~c":"\\u0000"}', '/a~1b~0c'],
    [`{"text":"x","deep":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, ''],
    ['', ''],
    ['null', ''],
    ['[]', ''],
    ['"text"', ''],
    ['{"text":"x"', ''],
    ['{"text":"x"} trailing', ''],
  ];
  for (const [body, pointer] of cases) {
    const answer = await post(body);
    expect([body.slice(0, 40), answer.status, answer.body.errors?.[0]?.pointer]).toEqual([
      body.slice(0, 40),
      400,
      pointer,
    ]);
  }
  const invalidUtf8 = await fetch(api.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${workspace.ownerKey}`, 'content-type': 'application/json' },
    body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  });
  expect(invalidUtf8.status).toBe(400);
});

test('unknown fields are dropped, null stands for absent where a field is optional, __proto__ is harmless', async () => {
  const answer = await post(
    '{"text":"x","note":null,"clearable":null,"items":[{"count":null}],"other":1,"__proto__":{"polluted":1}}',
  );
  expect([answer.status, JSON.parse(answer.text)]).toEqual([
    200,
    { echoed: { text: 'x', clearable: null, items: [{}] }, polluted: false },
  ]);
  const required = await post({ text: null });
  expect(required.body.errors).toEqual([{ pointer: '/text', detail: 'Required.' }]);
});

test('a body must be JSON in UTF-8, and within the limit, declared or not', async () => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
  ]) {
    expect((await post('{"text":"x"}', { 'content-type': type })).status).toBe(415);
  }
  expect((await post('{"text":"x"}', { 'content-encoding': 'gzip' })).status).toBe(415);
  expect((await post('{"text":"x"}', { 'content-type': 'Application/JSON; Charset="UTF-8"' })).status).toBe(
    200,
  );
  expect((await post('{"text":"x"}', { 'content-type': 'application/merge-patch+json' })).status).toBe(200);

  const large = await post(JSON.stringify({ text: 'x'.repeat(LIMIT) }));
  expect([large.status, large.body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${workspace.ownerKey}\r\nContent-Type: application/json\r\n`;
  const chunk = `${(0x2000).toString(16)}\r\n${'x'.repeat(0x2000)}\r\n`;
  expect(await raw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(10)}0\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 413 /,
  );
  expect(await raw(`${head}Content-Length: 999999999999\r\n\r\n{`)).toMatch(/^HTTP\/1.1 413 /);
  expect(await raw(`${head}Transfer-Encoding: chunked\r\n\r\nc\r\n{"text":"x"}\r\n0\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 200 /,
  );
});

test('405 names the methods, OPTIONS answers without a key, HEAD is GET without a body, CORS is off', async () => {
  const keys = `/api/workspaces/${workspace.id}/api-keys`;
  const put = await api.call('PUT', keys, { key: workspace.ownerKey, body: {} });
  expect([put.status, put.body.code, put.headers.get('allow')]).toEqual([
    405,
    'METHOD_NOT_ALLOWED',
    'GET, HEAD, OPTIONS, POST',
  ]);
  const options = await api.call('OPTIONS', keys, {
    headers: { origin: 'https://example.com', 'access-control-request-method': 'POST' },
  });
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS, POST']);
  const head = await api.call('HEAD', keys, { key: workspace.ownerKey });
  expect([head.status, head.text]).toEqual([200, '']);
  expect((await api.call('HEAD', `${keys}/${workspace.id}`, { key: workspace.ownerKey })).status).toBe(405);
  for (const { headers } of [put, options, head]) {
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  }
  expect((await api.call('GET', '/nowhere')).body.code).toBe('RESOURCE_NOT_FOUND');
  expect((await api.call('OPTIONS', '/nowhere')).status).toBe(404);
});

test('malformed requests are answered, and the server lives on', async () => {
  const get = (target: string, host = 'localhost') =>
    raw(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  expect(await get('/healthz')).toMatch(/^HTTP\/1.1 200 /);
  for (const answer of [
    await get('/healthz', 'a b'),
    await get('//'),
    await get('/%'),
    await get('/api/workspaces/%00/api-keys'),
    await get('/\\..\\x'),
    await raw('OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
    await raw(`TRACE /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
    await raw('nonsense\r\n\r\n'),
    await raw(`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`),
  ]) {
    expect(answer).toMatch(/^HTTP\/1.1 4\d\d /);
  }
  expect(await get('/healthz')).toMatch(/^HTTP\/1.1 200 /);
});

test('a request id of the client is kept when it is safe, and replaced when it is not', async () => {
  const idFor = async (id: string) =>
    (await api.call('GET', '/healthz', { headers: { 'x-request-id': id } })).headers.get('x-request-id');
  expect(await idFor('trace-1:a/b.c=d+e')).toBe('trace-1:a/b.c=d+e');
  for (const id of ['x'.repeat(129), 'a b', '<script>', 'é', workspace.ownerKey]) {
    expect(await idFor(id)).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test('an unexpected error is 500 without its text, and the log knows it by the request id, without secrets', async () => {
  const answer = await api.call('GET', '/api/broken', { key: workspace.ownerKey });
  expect([answer.status, answer.body.code]).toEqual([500, 'INTERNAL_ERROR']);
  expect(answer.text).not.toContain('leak');
  const line = api.log.find(
    (text) => text.includes(answer.body.requestId) && text.includes('unexpected error'),
  );
  expect(line).toContain('leak: wcsk_[redacted]');
});

test('a database that is away is 503 on every route, and health and readiness tell it apart', async () => {
  const gone = createDatabase({ connectionString: 'postgres://nobody@127.0.0.1:1/none' });
  const cut = await startApi(gone);
  const answer = await cut.call('GET', '/api/whoami', { key: workspace.ownerKey });
  expect([answer.status, answer.body.code, answer.headers.get('retry-after')]).toEqual([
    503,
    'SERVICE_UNAVAILABLE',
    '5',
  ]);
  expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONNREFUSED/);
  await cut.close();
  await gone.destroy();

  expect((await api.call('GET', '/readyz')).body).toEqual({ status: 'ready', checks: { database: 'ok' } });
  databaseIsUp = false;
  const down = await api.call('GET', '/readyz');
  databaseIsUp = true;
  expect(down.status).toBe(503);
  expect(down.body).toEqual({ status: 'not ready', checks: { database: 'unavailable' } });
  expect((await api.call('GET', '/healthz')).status).toBe(200);
});

test('closing waits for requests in flight', async () => {
  const slow = await startApi(database.db, {}, [
    defineRoute(
      {
        method: 'get',
        path: '/api/slow',
        operationId: 'slow',
        summary: 'Slow',
        tags: ['Echo'],
        scope: 'caller',
        permissions: [],
        responses: { 200: { description: 'Late.', schema: z.unknown() } },
      },
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        return { status: 200, body: {} };
      },
    ),
  ]);
  const pending = slow.call('GET', '/api/slow', { key: workspace.ownerKey });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await slow.close();
  expect((await pending).status).toBe(200);
  await expect(slow.call('GET', '/healthz')).rejects.toThrow();
});

test('the reference page and the OpenAPI document hold every route and load nothing from elsewhere', async () => {
  const page = await api.call('GET', '/docs');
  const { paths, openapi } = JSON.parse((await api.call('GET', '/openapi.json')).text);
  expect(openapi).toBe('3.1.0');
  expect(Object.keys(paths)).toContain('/api/workspaces/{workspaceId}/api-keys/{keyId}/rotate');
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item as object))) {
    expect(page.text).toContain(`id="${operation.operationId}"`);
  }
  expect(page.text).not.toMatch(/<script|src=|href="http/);
});

test('no log line of any of this holds a key, its hash or an Authorization header', () => {
  const log = api.log.join('\n');
  expect(log).toContain('"route":"/api/workspaces/{workspaceId}/echo"');
  expect(log).not.toMatch(/wcsk_[0-9A-Za-z]/);
  expect(log).not.toMatch(/bearer|authorization/i);
});
