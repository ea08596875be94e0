import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createWorkspace, startApi, type TestApi, type TestWorkspace } from './support/api.ts';
import { echo } from './support/echo.ts';
import { raw } from './support/raw.ts';

const LIMIT = 64 * 1024;

let database: TestDatabase;
let api: TestApi;
let workspace: TestWorkspace;
let path: string;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApi(database.db, {}, [echo]);
  workspace = await createWorkspace(database.db);
  path = `/api/workspaces/${workspace.id}/echo`;
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

const post = (body: unknown, headers: Record<string, string> = {}) =>
  api.call('POST', path, { key: workspace.ownerKey, body, headers });

// contract.md A6
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
    const response = await post(body);
    expect([body.slice(0, 40), response.status, response.body.errors?.[0]?.pointer]).toEqual([
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

// contract.md A12
test('unknown fields are dropped, null stands for absent where a field is optional, __proto__ is harmless', async () => {
  const response = await post(
    '{"text":"x","note":null,"clearable":null,"items":[{"count":null}],"other":1,"__proto__":{"polluted":1}}',
  );
  expect([response.status, JSON.parse(response.text)]).toEqual([
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
  expect(await raw(api.url, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(10)}0\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 413 /,
  );
  expect(await raw(api.url, `${head}Content-Length: 999999999999\r\n\r\n{`)).toMatch(/^HTTP\/1.1 413 /);
  expect(
    await raw(api.url, `${head}Transfer-Encoding: chunked\r\n\r\nc\r\n{"text":"x"}\r\n0\r\n\r\n`),
  ).toMatch(/^HTTP\/1.1 200 /);
});
