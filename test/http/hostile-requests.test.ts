import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { createRoutes, type RouteDependencies } from '../../src/processes/routes.ts';
import { anyText } from '../support/any-text.ts';
import '../support/fast-check.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { fingerprintOf, grounded, type Ids, makeOneOfEach, realPath } from './support/one-of-each.ts';

const service = useTestService();

/** What is read of a JSON Schema of /openapi.json here. */
interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: {
    readonly content: { 'application/json'?: { readonly schema: Schema; readonly example: unknown } };
  };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'method' | 'path'>>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

type Place = readonly (string | number)[];

/** What each operation answers, by status: OpenAPI is made of the same. */
const definitions = new Map(
  createRoutes({ limits: { perKey: 0, perWorkspace: 0 } } as RouteDependencies).map(({ definition }) => [
    definition.operationId,
    definition,
  ]),
);

let workspace: TestWorkspace;
let operations: Operation[];
let schemas: Readonly<Record<string, Schema>>;
let ids: Ids;
let foreign: string;
/** Moves with every row that is written or removed. */
let fingerprint: () => Promise<string>;

beforeAll(async () => {
  workspace = await service.workspace(1_000_000);
  const stranger = await service.workspace();
  foreign = await service.project(stranger);
  ids = await makeOneOfEach(service, workspace);

  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
  schemas = document.components.schemas;
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ ...one, method: method.toUpperCase(), path })),
  );
  fingerprint = await fingerprintOf(service);
});

/** The path with real ids. What deletes gets none at its end, or the ground of the others would go. */
function pathOf({ method, path }: Operation): string {
  const last = /\{(\w+)\}[^{]*$/.exec(path)?.[1];
  return realPath(path, ids, method === 'DELETE' && last !== undefined ? { [last]: randomUUID() } : {});
}

const isHolder = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === 'object' && value !== null;

function formsOf(schema: Schema | undefined): Schema[] {
  if (schema === undefined) return [];
  if (schema.$ref !== undefined) return formsOf(schemas[schema.$ref.split('/').at(-1) ?? '']);
  const choices = schema.anyOf ?? schema.oneOf ?? [];
  return [schema, ...choices.flatMap(formsOf)];
}

/** Every place of a body where something may stand, whether or not the example has anything there. */
function* placesOf(schemaHere: Schema | undefined, value: unknown, path: Place = []): Generator<Place> {
  yield path;
  if (!isHolder(value)) return;
  const forms = formsOf(schemaHere);
  if (Array.isArray(value)) {
    const item = forms.find(({ items }) => items !== undefined)?.items;
    for (const [index, inner] of value.slice(0, 2).entries()) yield* placesOf(item, inner, [...path, index]);
    return;
  }
  const properties: Record<string, Schema> = Object.assign({}, ...forms.map((form) => form.properties ?? {}));
  for (const name of new Set([...Object.keys(properties), ...Object.keys(value)])) {
    yield* placesOf(properties[name], value[name], [...path, name]);
  }
}

const REMOVED = Symbol('removed');
const MANY = Symbol('many');

const hostileText = fc.oneof(
  fc.constantFrom(
    ...['', ' ', '\0', 'a\0b', '\ud800', '\udfff\ud800', '\ufffe', '\u202e\u2066', '\u200b', 'e\u0301'],
    ...[
      '\u0301'.repeat(65),
      '👩‍👩‍👧'.repeat(40),
      'x'.repeat(9_000),
      '__proto__',
      'constructor',
      'null',
      '-1',
      '1e9',
    ],
    ...[
      "' OR 1=1 --",
      '{{7*7}}',
      '../../etc/passwd',
      '<script>',
      '[a](javascript:alert(1))',
      '**a'.repeat(99),
    ],
    ...[
      'en',
      'EN-us',
      'x-private',
      'i-klingon',
      'en-u-ca-buddhist',
      'zzzzzzzz',
      'de-1996-1996',
      'zh-min-nan',
    ],
    ...['2027-02-30T00:00:00Z', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59', '٣', 'İ', 'ß', 'ﬃ'],
    ...['00000000-0000-0000-0000-000000000000', 'http://[::1]:9/', 'http://127.1:9/', 'file:///etc/passwd'],
    ...['http://a:b@127.0.0.1:9/', 'http://127.0.0.1:0/', 'http://127.0.0.1:99999/', '//127.0.0.1', 'http:'],
  ),
  // No name of a host, lest somebody is asked for it.
  anyText({ maxLength: 40 }).filter((text) => !/https?:/i.test(text)),
);
const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(
      ...[null, 0, -1, 1.5, 1e308, 2 ** 53, -(2 ** 31) - 1, true, false, [], {}, [null], [[]], [{}], [0, 0]],
      ...[{ '': 1 }, { __proto__: null, toString: 1 }, { length: 3 }, Array(300).fill('x'), REMOVED, MANY],
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2, noUnicodeString: false }).filter(isHolder) },
  { weight: 1, arbitrary: fc.constantFrom('own', 'foreign').map((whose) => ({ id: whose })) },
);

/** The body with something else at one of its places. */
function changed(body: unknown, place: Place, value: unknown): unknown {
  const [first, ...rest] = place;
  if (first === undefined) {
    if (value === MANY) return Array.isArray(body) ? Array(120).fill(body).flat() : [body, body];
    if (isHolder(value) && value.id === 'own') return ids.articleId;
    if (isHolder(value) && value.id === 'foreign') return foreign;
    return value === REMOVED ? undefined : value;
  }
  if (!isHolder(body)) return body;
  const copy = Array.isArray(body) ? [...body] : { ...body };
  Reflect.set(copy, first, changed(body[first], rest, value));
  return copy;
}

interface Hostile {
  readonly body?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

let last: string | undefined;

/** Sends it, and tells what no answer may be. */
async function judge(operation: Operation, { body, query = '', headers = {} }: Hostile): Promise<void> {
  const { operationId, method, responses } = operation;
  last ??= await fingerprint();
  const answer = await fetch(service.url + pathOf(operation) + query, {
    method,
    headers: {
      authorization: `Bearer ${workspace.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const { status } = answer;
  const text = await answer.text();
  const told = `${operationId} ${status} ${text.slice(0, 2_000)}`;
  expect(status, told).toBeLessThan(500);
  expect(Object.keys(responses), told).toContain(String(status));
  if (status === 304) return;
  const value = JSON.parse(text);
  if (status < 400) {
    last = undefined;
    const parsed = await definitions.get(operationId)?.responses[status]?.schema?.safeParseAsync(value);
    expect(parsed?.error?.issues, told).toBeUndefined();
    // A field that OpenAPI does not have would be missing.
    expect(parsed?.data, told).toEqual(value);
    return;
  }
  expect(answer.headers.get('content-type'), told).toBe('application/problem+json');
  expect(value, told).toMatchObject({ status, requestId: answer.headers.get('x-request-id') });
  expect(text.length, told).toBeLessThan(64 * 1024);
  if (value.code === 'INVALID_REQUEST') {
    expect(value.errors?.length, told).toBeGreaterThan(0);
    for (const { pointer, detail } of value.errors) {
      expect(detail, told).toMatch(/\S/);
      expect(isPlace(operation, pointer, body), `${told}\n${pointer} of ${body}`).toBe(true);
    }
  }
  expect(await fingerprint(), `${told} left something behind`).toBe(last);
}

/** True for a pointer to something that was sent, or that could have been beside it. */
function isPlace({ parameters = [] }: Operation, pointer: string, body: string | undefined): boolean {
  if (pointer === '') return true;
  const [, place, name] = /^(query|header)\/([^/]+)$/.exec(pointer) ?? [];
  if (place !== undefined) return parameters.some((one) => one.in === place && one.name === name);
  if (!pointer.startsWith('/')) return false;
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  // A body that may be left out has no field that is missed.
  let holder: unknown = JSON.parse(body || 'null');
  for (const key of keys.slice(0, -1)) holder = isHolder(holder) ? holder[key] : undefined;
  return isHolder(holder) || keys.length === 1;
}

const RUNS = Number(process.env.HOSTILE_RUNS ?? 12);

// contract.md A20
test('a hostile body is taken or refused by its fields, gets a response as OpenAPI says, and refused leaves nothing behind', async () => {
  const withBody = operations.filter(({ requestBody }) => requestBody?.content['application/json']);
  expect(withBody.length).toBeGreaterThan(30);
  for (const operation of withBody) {
    const { schema, example } = operation.requestBody?.content['application/json'] ?? {};
    const base = grounded(example, ids);
    const places = [...placesOf(schema, base)];
    const changes = fc.array(fc.tuple(fc.constantFrom(...places), hostileValue), {
      minLength: 1,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(changes, async (made) => {
        const body = made.reduce((so, [place, value]) => changed(so, place, value), base);
        await judge(operation, { body: JSON.stringify(body) ?? '' });
      }),
      { numRuns: RUNS },
    );
  }
});

test('so is a hostile query', async () => {
  for (const operation of operations) {
    const names = (operation.parameters ?? []).flatMap((one) => (one.in === 'query' ? [one.name] : []));
    if (names.length === 0) continue;
    const raw = fc.constantFrom(
      '%00',
      '%ff',
      '%',
      '%ED%A0%80',
      '+',
      'MjAyNi0xMS0yMlQxNDowMDowMC4wMDBaIDA',
      'bGVkZ2VyIA',
    );
    const value = fc.oneof(
      hostileText.map((text) => encodeURIComponent(text.toWellFormed())),
      raw,
    );
    const pairs = fc.array(fc.tuple(fc.constantFrom(...names), value), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(pairs, (made) =>
        judge(operation, {
          query: `?${made.map(([name, text]) => `${name}=${text.slice(0, 3_000)}`).join('&')}`,
          ...(operation.requestBody === undefined
            ? {}
            : { body: 'x', headers: { 'content-type': 'image/png' } }),
        }),
      ),
      { numRuns: RUNS },
    );
  }
});

test('so is a hostile header', async () => {
  const hostile = [
    ['content-type', 'text/plain'],
    ['content-type', 'application/json; charset=utf-16'],
    ['content-encoding', 'gzip'],
    ['x-request-id', 'wcsk_secret'],
    ['if-match', '"', '"x"', 'W/"x"', '*', '"a", x', '"'.repeat(3_000)],
    ['if-none-match', '"', '*', 'x,'.repeat(1_500)],
    ['idempotency-key', 'short', 'é'.repeat(8), 'x'.repeat(201), '        x'],
  ] as const;
  for (const operation of operations) {
    const json = operation.requestBody?.content['application/json'];
    const body = json === undefined ? {} : { body: JSON.stringify(grounded(json.example, ids)) };
    const own = operation.parameters?.map(({ name }) => name.toLowerCase()) ?? [];
    for (const [name, ...values] of hostile) {
      if (/^(?:if|idem)/.test(name) && !own.includes(name)) continue;
      for (const value of values) {
        if (operation.method === 'GET' && name.startsWith('content')) continue;
        await judge(operation, { ...body, headers: { [name]: value } });
      }
    }
  }
});
