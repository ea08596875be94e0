import '../support/fast-check.ts';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { canonicalLanguage } from '../../src/fields.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { send } from './support/api.ts';

const service = useTestService();

type Json = Readonly<Record<string, unknown>>;

let workspace: TestWorkspace;
let document: { paths: Record<string, Record<string, Operation>>; components: { schemas: Json } };

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly schema: Json }[];
  readonly requestBody?: {
    readonly description: string;
    readonly content: Record<string, { readonly schema: Json }>;
  };
}

beforeAll(async () => {
  workspace = await service.workspace();
  document = JSON.parse((await send(service.url, 'GET', '/openapi.json')).text);
});

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const resolve = (reference: unknown): unknown =>
  document.components.schemas[String(reference).replace('#/components/schemas/', '')];

/** Where the schema lets a value grow without an end. */
function unbounded(schema: unknown, path: string, seen = new Set<unknown>()): string[] {
  if (!isObject(schema) || seen.has(schema)) return [];
  seen.add(schema);
  const at = (inner: unknown, step: string) => unbounded(inner, `${path}${step}`, seen);
  const types = [schema.type].flat();
  const found: string[] = [];
  if (types.includes('array') && typeof schema.maxItems !== 'number') found.push(`${path}: no maxItems`);
  const isShort = 'enum' in schema || 'const' in schema || schema.format === 'uuid';
  if (types.includes('string') && !isShort && typeof schema.maxLength !== 'number') {
    found.push(`${path}: no maxLength`);
  }
  const { additionalProperties, propertyNames } = schema;
  if (additionalProperties === true) found.push(`${path}: any properties`);
  if (isObject(additionalProperties)) {
    if (typeof schema.maxProperties !== 'number') found.push(`${path}: any properties`);
    found.push(...at(propertyNames ?? { type: 'string' }, ' names'), ...at(additionalProperties, '/*'));
  }
  for (const word of ['anyOf', 'oneOf', 'allOf'] as const) {
    const choices = schema[word];
    for (const choice of Array.isArray(choices) ? choices : []) {
      // One without a type of its own only narrows what is bounded beside it.
      if ('type' in choice || '$ref' in choice) found.push(...at(choice, ''));
    }
  }
  if (isObject(schema.properties)) {
    for (const [name, inner] of Object.entries(schema.properties)) found.push(...at(inner, `/${name}`));
  }
  found.push(...at(schema.items, '/*'));
  if ('$ref' in schema) found.push(...at(resolve(schema.$ref), ''));
  return found;
}

// contract.md A16
test('every array and every text that a request can carry has an upper bound in OpenAPI', () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  expect(operations.length).toBeGreaterThan(40);
  const found = operations.flatMap(({ operationId, parameters = [], requestBody }) => [
    ...parameters.flatMap(({ name, schema }) => unbounded(schema, `${operationId} ${name}`)),
    ...unbounded(requestBody?.content['application/json']?.schema, operationId),
  ]);
  expect(found).toEqual([]);
});

test('OpenAPI takes every language tag that is taken, and no language of more than three letters', () => {
  const config = document.components.schemas.GenerationConfig as { properties: Record<string, Json> };
  const pattern = new RegExp(String(config.properties.language?.pattern));
  const subtags = ['en', 'PT', 'yue', 'art', 'cel', 'zh', 'Latn', 'BR', '419', 'lojban', '1996', 'gaulish'];
  const parts = [
    ...subtags,
    'u',
    'ca',
    'buddhist',
    'x',
    'a',
    't',
    'fr',
    'posix',
    'root',
    'zzzzzzzz',
    '',
    '_',
  ];
  const anyTag = fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 5 });
  let taken = 0;
  fc.assert(
    fc.property(anyTag, (tags) => {
      const tag = tags.join('-');
      if (canonicalLanguage(tag) === null) return;
      taken += 1;
      expect(tag).toMatch(pattern);
    }),
    { numRuns: 2_000 },
  );
  expect(taken).toBeGreaterThan(100);
  for (const tag of ['e', 'root', 'zzzzzzzz', 'en_US', 'i-klingon', '']) {
    expect([tag, pattern.test(tag), canonicalLanguage(tag)]).toEqual([tag, false, null]);
  }
});

const post = (path: string, body: unknown) => send(service.url, 'POST', path, { key: workspace.key, body });

test('a list that is too long is one bad field, however long it is, and changes nothing', async () => {
  const path = `/api/workspaces/${workspace.id}/webhooks`;
  for (const count of [101, 32_000]) {
    const response = await post(path, { url: 'https://example.com/', events: Array(count).fill(0) });
    expect([response.status, response.body.errors, response.body.errorsOmitted]).toEqual([
      400,
      [{ pointer: '/events', detail: 'Expected at most 100 events.' }],
      undefined,
    ]);
  }
  expect(await service.db.selectFrom('webhook_endpoints').select('id').execute()).toEqual([]);
});

// contract.md A14
test('the first 50 bad fields are named, with the number of the others', async () => {
  const events = Array(100).fill(0);
  const response = await post(`/api/workspaces/${workspace.id}/webhooks`, { url: 7, events });
  expect(response.body.detail).toBe('101 fields are invalid; see errors.');
  expect(response.body.errors?.map(({ pointer }) => pointer)).toEqual([
    '/url',
    ...Array.from({ length: 49 }, (_, index) => `/events/${index}`),
  ]);
  expect(response.body.errorsOmitted).toBe(51);
});

// contract.md A15
test('each route reads as many bytes as OpenAPI says, and refuses one more', async () => {
  const projectId = await service.project(workspace);
  const limits: [string, string, number][] = [
    ['createRole', `/api/workspaces/${workspace.id}/roles`, 64 * 1024],
    ['createArticle', `/api/projects/${projectId}/articles`, 1024 * 1024],
  ];
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  for (const [id, path, limit] of limits) {
    const described = operations.find(({ operationId }) => operationId === id)?.requestBody?.description;
    expect(described).toMatch(new RegExp(`^At most ${limit} bytes`));
    const of = (size: number): string => {
      const body = JSON.stringify({ title: 'x', name: 'x', permissions: [], padding: '' });
      return body.replace('"padding":""', `"padding":"${'x'.repeat(size - body.length)}"`);
    };
    expect([id, (await post(path, of(limit))).status]).toEqual([id, 201]);
    expect([id, (await post(path, of(limit + 1))).status]).toEqual([id, 413]);
  }
});

// contract.md A15
test('a body holds 32 levels and 100,000 values, and no more, whatever else is wrong with it', async () => {
  const path = `/api/projects/${await service.project(workspace)}/articles`;
  const nested = (levels: number) =>
    `{"title":"x","other":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  const filled = (values: number) => `{"title":"[,{\\"","other":[0${',[]'.repeat(values - 4)}]}`;
  expect([(await post(path, nested(32))).status, (await post(path, filled(100_000))).status]).toEqual([
    201, 201,
  ]);
  for (const body of [nested(33), filled(100_001), '['.repeat(1024 * 1024), '{"a":'.repeat(200_000)]) {
    const response = await post(path, body);
    expect([response.status, response.body.errors]).toEqual([
      400,
      [{ pointer: '', detail: expect.stringMatching(/deeper than 32 levels|more than 100000 values/) }],
    ]);
  }
});

test('a text of combining marks is refused, and so is a name that shows nothing', async () => {
  const path = `/api/workspaces/${workspace.id}/roles`;
  const detailOf = async (name: string) => (await post(path, { name, permissions: [] })).body.errors;
  const refused = (text: string) => [{ pointer: '/name', detail: expect.stringContaining(text) }];
  expect(await detailOf(`a${'\u0301\u0323'.repeat(200)}`)).toEqual(refused('64 combining marks'));
  expect(await detailOf(`a${'\u0301'.repeat(30_000)}`)).toEqual(refused('1 to 120 characters'));
  for (const name of ['\u200b', '\u2800', '\u3164', '\u00ad\u2060', '\u0007', '\u{e0041}', '\u202e \u202c']) {
    expect(await detailOf(name)).toEqual(refused('visible characters'));
  }
  // Letters that need invisible ones keep them.
  expect((await post(path, { name: 'می\u200cخواهم', permissions: [] })).status).toBe(201);
});

test('what a path names is an id by its name, or a language tag', () => {
  const named = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap(({ parameters = [] }) =>
      parameters.filter(({ name }) => path.includes(`{${name}}`)),
    ),
  );
  expect(
    new Set(named.map(({ name, schema }) => `${name.replace(/^.+Id$/, 'id')} ${schema.format}`)),
  ).toEqual(new Set(['id uuid', 'language undefined']));
});

test('where one of several fields is needed, OpenAPI says so', () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const needed = (id: string) => {
    const body = operations.find(({ operationId }) => operationId === id)?.requestBody;
    const { anyOf, minProperties } = body?.content['application/json']?.schema ?? {};
    return [minProperties, (anyOf as { required: string[] }[]).flatMap(({ required }) => required)];
  };
  expect(needed('updateCategory')).toEqual([
    undefined,
    ['primaryLanguage', 'translations', 'removeLanguages'],
  ]);
  expect(needed('updateRole')).toEqual([undefined, ['name', 'permissions']]);
});
