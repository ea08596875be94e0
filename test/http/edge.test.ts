import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createDatabase } from '../../src/db/database.ts';
import { DEFAULT_HTTP_LIMITS } from '../../src/http/limits.ts';
import { ERROR_CODES, problemSlug } from '../../src/http/problems.ts';
import { createReadiness } from '../../src/http/readiness.ts';
import { defineRoute } from '../../src/http/route.ts';
import { serveHttp } from '../../src/http/serve.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/wait.ts';
import { createWorkspace, edgeRoutes, startApi, type TestApi, type TestWorkspace } from './support/api.ts';
import { echo } from './support/echo.ts';
import { raw } from './support/raw.ts';

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
      limits: { ...DEFAULT_HTTP_LIMITS, authFailures: 0 },
      readiness: createReadiness({
        database: {
          needed: true,
          check: async () => {
            if (!databaseIsUp) throw new Error('connect ECONNREFUSED secret-host');
          },
        },
      }),
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

const post = (body: unknown) => api.call('POST', path, { key: workspace.ownerKey, body });

// contract.md A5
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

// contract.md A8
test('an error is a problem document with its code, its page and the id of the request', async () => {
  const response = await post({ text: 7, note: 'far too long for a note', items: [{ count: 'x' }, 1] });
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.body).toEqual({
    type: '/docs/errors/invalid-request',
    title: 'Invalid request',
    status: 400,
    detail: '4 fields are invalid; see errors.',
    code: 'INVALID_REQUEST',
    requestId: response.headers.get('x-request-id'),
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

test('pages are the same for every client, and not sent again to one that has them', async () => {
  for (const page of ['/openapi.json', '/docs', '/docs/errors/conflict']) {
    const first = await api.call('GET', page);
    const tag = first.headers.get('etag') ?? '';
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
    expect(tag).toMatch(/^"[\w-]{27}"$/);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
      const again = await api.call('GET', page, { headers: { 'if-none-match': known } });
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
    }
    const other = await api.call('GET', page, { headers: { 'if-none-match': '"other"' } });
    expect([other.status, other.text]).toEqual([200, first.text]);
  }
});

test('405 names the methods, OPTIONS needs no key, HEAD is GET without a body, CORS is off', async () => {
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

test('malformed requests get a response, and the server lives on', async () => {
  const get = (target: string, host = 'localhost') =>
    raw(api.url, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  expect(await get('/healthz')).toMatch(/^HTTP\/1.1 200 /);
  for (const response of [
    await get('/healthz', 'a b'),
    await get('//'),
    await get('/%'),
    await get('/api/workspaces/%00/api-keys'),
    await get('/\\..\\x'),
    await raw(api.url, 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
    await raw(api.url, `TRACE /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
    await raw(api.url, 'nonsense\r\n\r\n'),
    await raw(api.url, `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`),
  ]) {
    expect(response).toMatch(/^HTTP\/1.1 4\d\d /);
  }
  expect(await get('/healthz')).toMatch(/^HTTP\/1.1 200 /);
});

// contract.md A19
test('what is no HTTP is a problem document, too, and the connection ends', async () => {
  const refusals = [
    ['nonsense\r\n\r\n', 400],
    [`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
  ] as const;
  for (const [text, status] of refusals) {
    const [head = '', body = ''] = (await raw(api.url, text)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toMatch(/^content-type: application\/problem\+json$/im);
    expect(head).toMatch(/^connection: close$/im);
    const problem = JSON.parse(body);
    expect(problem).toMatchObject({ status, code: 'INVALID_REQUEST', detail: expect.stringMatching(/\.$/) });
    expect(head).toContain(`X-Request-Id: ${problem.requestId}`);
  }
  const expecting = 'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\nConnection: close\r\n\r\n';
  expect(await raw(api.url, expecting)).toMatch(/^HTTP\/1.1 200 /);
});

// contract.md A19
test('a client that takes nothing of its response is cut off, one that waits for its response is not', async () => {
  const large = 'x'.repeat(32 * 1024 * 1024);
  const server = await serveHttp(
    {
      fetch: async (request) => {
        if (!request.url.endsWith('/large')) await sleep(300);
        return new Response(request.url.endsWith('/large') ? large : 'late');
      },
    },
    { host: '127.0.0.1', port: 0, logger: pino({ level: 'silent' }), stallTimeout: 600 },
  );
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'readable');
  expect(await (await fetch(server.url)).text()).toBe('late');
  await sleep(2_000);
  let taken = 0;
  for await (const chunk of socket.on('error', () => undefined)) taken += chunk.length;
  expect(taken).toBeLessThan(large.length);
  await server.close();
});

test('a request id of the client is kept when it is safe, and replaced when it is not', async () => {
  const idFor = async (id: string) =>
    (await api.call('GET', '/healthz', { headers: { 'x-request-id': id } })).headers.get('x-request-id');
  expect(await idFor('trace-1:a/b.c=d+e')).toBe('trace-1:a/b.c=d+e');
  for (const id of ['x'.repeat(129), 'a b', '<script>', 'é', workspace.ownerKey]) {
    expect(await idFor(id)).toMatch(/^[0-9a-f-]{36}$/);
  }
});

// contract.md A10
test('an unexpected error is 500 without its text, and the log knows it by the request id, without secrets', async () => {
  const response = await api.call('GET', '/api/broken', { key: workspace.ownerKey });
  expect([response.status, response.body.code]).toEqual([500, 'INTERNAL_ERROR']);
  expect(response.text).not.toContain('leak');
  const line = api.log.find(
    (text) => text.includes(response.body.requestId) && text.includes('unexpected error'),
  );
  expect(line).toContain('leak: wcsk_[redacted]');
});

test('a database that is away is 503 on every route, and health and readiness tell it apart', async () => {
  const gone = createDatabase({ connectionString: 'postgres://nobody@127.0.0.1:1/none' });
  const cut = await startApi(gone);
  const response = await cut.call('GET', '/api/whoami', { key: workspace.ownerKey });
  expect([response.status, response.body.code, response.headers.get('retry-after')]).toEqual([
    503,
    'SERVICE_UNAVAILABLE',
    '5',
  ]);
  expect(response.text).not.toMatch(/127\.0\.0\.1|ECONNREFUSED/);
  await cut.close();
  await gone.destroy();

  expect((await api.call('GET', '/readyz')).body).toEqual({ status: 'ready', checks: { database: 'ok' } });
  databaseIsUp = false;
  const down = await eventually(
    () => api.call('GET', '/readyz'),
    ({ status }) => status !== 200,
  );
  databaseIsUp = true;
  expect(down.status).toBe(503);
  expect(down.body).toEqual({ status: 'not ready', checks: { database: 'unavailable' } });
  expect((await api.call('GET', '/healthz')).status).toBe(200);
});

test('closing waits for requests in flight', async () => {
  const begun = Promise.withResolvers<void>();
  const ends = Promise.withResolvers<void>();
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
        begun.resolve();
        await ends.promise;
        return { status: 200, body: {} };
      },
    ),
  ]);
  const pending = slow.call('GET', '/api/slow', { key: workspace.ownerKey });
  await begun.promise;
  let closed = false;
  const closing = slow.close().finally(() => {
    closed = true;
  });
  await eventually(
    () =>
      slow.call('GET', '/healthz').then(
        () => 'open',
        () => 'shut',
      ),
    (door) => door === 'shut',
  );
  expect(closed).toBe(false);
  ends.resolve();
  await closing;
  expect((await pending).status).toBe(200);
  await expect(slow.call('GET', '/healthz')).rejects.toThrow();
});

test('closing does not wait for a connection that never had a request', async () => {
  const own = await startApi(database.db);
  const silent = connect(Number(new URL(own.url).port), '127.0.0.1');
  await once(silent, 'connect');
  expect((await own.call('GET', '/healthz')).status).toBe(200);
  const ended = once(silent, 'close');
  silent.resume();
  const began = performance.now();
  await own.close();
  await ended;
  expect(performance.now() - began).toBeLessThan(15_000);
});

test('the reference page and the OpenAPI document hold every route and load nothing from elsewhere', async () => {
  const page = await api.call('GET', '/docs');
  const { paths, openapi } = JSON.parse((await api.call('GET', '/openapi.json')).text);
  expect(openapi).toBe('3.1.0');
  expect(Object.keys(paths)).toContain('/api/workspaces/{workspaceId}/api-keys/{keyId}/rotate');
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item as object))) {
    expect(page.text).toContain(`id="${operation.operationId}"`);
  }
  expect(page.text).not.toMatch(/\ssrc=|href="http|@import|url\(/);
});

test('no log line of any of this holds a key, its hash or an Authorization header', () => {
  const log = api.log.join('\n');
  expect(log).toContain('"route":"/api/workspaces/{workspaceId}/echo"');
  expect(log).not.toMatch(/wcsk_[0-9A-Za-z]/);
  expect(log).not.toMatch(/bearer|authorization/i);
});
