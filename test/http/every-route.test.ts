import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import { generateKey } from '../../src/api-keys/key-format.ts';
import { PERMISSIONS, type Permission } from '../../src/permissions.ts';
import { createRole } from '../../src/roles/create.ts';
import { createArticle } from '../support/articles.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { type Answer, send } from './support/api.ts';

const service = useTestService();

/** One operation as /openapi.json describes it: nothing here is written down by hand for any route. */
interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** The path parameter that is looked up before permissions; null for a path that names none. */
  readonly scope: 'workspaceId' | 'articleId' | 'projectId' | 'jobId' | null;
  /** Every other path parameter. */
  readonly others: readonly string[];
  readonly permissions: readonly Permission[];
  /** JSON; a body that is a file is not among it. */
  readonly hasBody: boolean;
  readonly bodyRequired: boolean;
  readonly example: unknown;
  readonly statuses: readonly string[];
}

interface Described {
  readonly operationId: string;
  readonly security?: unknown;
  readonly 'x-permissions': Permission[];
  readonly requestBody?: { required: boolean; content: { 'application/json'?: { example?: unknown } } };
  readonly responses: Record<string, unknown>;
}

const SCOPES = ['workspaceId', 'articleId', 'projectId', 'jobId'] as const;

let workspace: TestWorkspace;
let stranger: TestWorkspace;
let operations: Operation[];
/** Ids of real things of the workspace. */
let ids: Record<string, string>;

beforeAll(async () => {
  workspace = await service.workspace();
  stranger = await service.workspace();
  const projectId = await service.project(workspace);
  const article = await createArticle(service.db, workspace, projectId);
  const { body } = await service.call(workspace.key, 'POST', `/api/articles/${article.id}/translations`, {
    language: 'es',
  });
  ids = { workspaceId: workspace.id, projectId, articleId: article.id, jobId: body.job.id };

  const document = JSON.parse((await send(service.url, 'GET', '/openapi.json')).text);
  const paths: Record<string, Record<string, Described>> = document.paths;
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]): Operation => {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      const scope = SCOPES.find((name) => names.includes(name)) ?? null;
      return {
        name: `${method} ${path}`,
        method: method.toUpperCase(),
        path,
        scope,
        others: names.filter((name) => name !== scope),
        permissions: described['x-permissions'],
        hasBody: described.requestBody?.content['application/json'] !== undefined,
        bodyRequired: described.requestBody?.required ?? false,
        example: described.requestBody?.content['application/json']?.example,
        statuses: Object.keys(described.responses),
      };
    }),
  );
});

/** Calls an operation with real ids where it has any, unless `params` says otherwise. */
async function call(
  operation: Operation,
  options: {
    key?: string;
    params?: Record<string, string>;
    body?: unknown;
    headers?: Record<string, string>;
  },
): Promise<Answer> {
  const values: Record<string, string> = { ...ids, ...options.params };
  const path = operation.path.replaceAll(
    /\{(\w+)\}/g,
    (_match, name: string) => values[name] ?? randomUUID(),
  );
  const response = await send(service.url, operation.method, path, options);
  expect(operation.statuses, `${operation.name} documents what it answers`).toContain(
    String(response.status),
  );
  expect(response.headers.get('x-request-id'), operation.name).toBeTruthy();
  if (response.status >= 400) {
    expect(response.headers.get('content-type'), operation.name).toBe('application/problem+json');
    expect(response.body).toMatchObject({
      status: response.status,
      requestId: response.headers.get('x-request-id'),
    });
  }
  return response;
}

/** Runs `work` for each operation and compares what came of it with what each should give. */
async function forEach(
  chosen: readonly Operation[],
  work: (operation: Operation) => Promise<unknown>,
  expected: unknown,
): Promise<void> {
  expect(chosen.length).toBeGreaterThan(0);
  for (const operation of chosen) expect(await work(operation), operation.name).toEqual(expected);
}

async function keyWith(permissions: readonly Permission[], expiresAt?: Date): Promise<string> {
  const { id } = await createRole(workspace.context, { name: randomUUID(), permissions: [...permissions] });
  return (await createApiKey(workspace.context, { label: 'test', roleId: id, expiresAt })).key;
}

const rows = async () =>
  service.db
    .selectFrom('audit_entries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('actor_kind', '=', 'api_key')
    .executeTakeFirstOrThrow();

const malformed = { body: '{"broken', headers: { 'content-type': 'application/json' } };

test('every operation has a name of its own, known permissions, an example for its body, and says who may call it', () => {
  expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length);
  for (const operation of operations) {
    for (const permission of operation.permissions) expect(PERMISSIONS).toContain(permission);
    expect(operation.statuses, operation.name).toEqual(
      expect.arrayContaining(['400', '401', '429', '500', '503']),
    );
    if (operation.hasBody) expect(operation.example, operation.name).toBeDefined();
  }
});

// contract.md A1
test('no key, garbage, a wrong scheme, a wrong checksum, an unknown, a revoked and an expired key are 401', async () => {
  const revoked = await createApiKey(workspace.context, { label: 'x', roleId: workspace.roles.owner });
  await service.call(
    workspace.key,
    'DELETE',
    `/api/workspaces/${workspace.id}/api-keys/${revoked.apiKey.id}`,
  );
  const expired = await keyWith(PERMISSIONS, new Date('2020-01-01T00:00:00Z'));
  const last = workspace.key.endsWith('0') ? '1' : '0';
  const credentials = [
    undefined,
    'Bearer',
    'Bearer garbage',
    `Basic ${btoa(`key:${workspace.key}`)}`,
    workspace.key,
    `Bearer ${workspace.key.slice(0, -1)}${last}`,
    `Bearer ${generateKey().key}`,
    `Bearer ${revoked.key}`,
    `Bearer ${expired}`,
  ];
  const before = await rows();
  for (const authorization of credentials) {
    await forEach(
      operations,
      async (operation) => {
        const headers = authorization === undefined ? {} : { authorization };
        const {
          status,
          body,
          headers: answered,
        } = await call(operation, { headers, params: { workspaceId: 'x' } });
        return [status, body.code, answered.get('www-authenticate')];
      },
      [401, 'UNAUTHENTICATED', 'Bearer'],
    );
  }
  expect(await rows()).toEqual(before);
});

// contract.md A3
test('what belongs to another workspace, is unknown, or is no id at all is 404, before permissions and body', async () => {
  const before = await rows();
  const scoped = operations.filter(({ scope }) => scope !== null);
  const answerOf = (key: string, id?: string) => async (operation: Operation) => {
    const params = operation.scope === null || id === undefined ? {} : { [operation.scope]: id };
    const { status, body } = await call(operation, { key, params, ...(operation.hasBody ? malformed : {}) });
    return [status, body.code];
  };
  await forEach(scoped, answerOf(stranger.key), [404, 'RESOURCE_NOT_FOUND']);
  const powerless = await keyWith([]);
  for (const id of [
    randomUUID(),
    'nonsense',
    '%00',
    '%F0%9F',
    "'%20OR%201=1--",
    `${workspace.id}0`,
    'null',
    '..%2f',
  ]) {
    await forEach(scoped, answerOf(powerless, id), [404, 'RESOURCE_NOT_FOUND']);
    await forEach(scoped, answerOf(workspace.key, id), [404, 'RESOURCE_NOT_FOUND']);
  }
  expect(await rows()).toEqual(before);
});

// contract.md A2
test('without any one of its permissions an operation is 403 and names it, before the body is read', async () => {
  const before = await rows();
  const needed = [...new Set(operations.flatMap(({ permissions }) => permissions))];
  for (const missing of needed) {
    const key = await keyWith(PERMISSIONS.filter((permission) => permission !== missing));
    await forEach(
      operations.filter(({ permissions }) => permissions.includes(missing)),
      async (operation) => {
        const { status, body } = await call(operation, { key, ...(operation.hasBody ? malformed : {}) });
        return [status, body.code, body.details];
      },
      [403, 'FORBIDDEN', { permissions: [missing] }],
    );
  }
  expect(await rows()).toEqual(before);
});

test('with exactly its permissions a body that is no JSON is 400, no body or another type is refused too', async () => {
  const before = await rows();
  const withBody = operations.filter(({ hasBody }) => hasBody);
  for (const operation of withBody) {
    const key = await keyWith(operation.permissions);
    const outcome = async (body: string, type = 'application/json') => {
      const { status, body: problem } = await call(operation, {
        key,
        body,
        headers: { 'content-type': type },
      });
      return [operation.name, status, problem.code];
    };
    const bad = [operation.name, 400, 'INVALID_REQUEST'];
    for (const body of ['{"broken', '[', '{"a":"\\u0000"}', '{"a":"\\udfff"}', '{"a":1e999}', '7', 'null']) {
      expect(await outcome(body)).toEqual(bad);
    }
    if (operation.bodyRequired) expect(await outcome('')).toEqual(bad);
    expect(await outcome('a=b', 'application/x-www-form-urlencoded')).toEqual([
      operation.name,
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ]);
  }
  expect(await rows()).toEqual(before);
});

// contract.md A7
test('an unknown, malformed or foreign id of anything further down the path is 404', async () => {
  const foreignKeys = await service.call(stranger.key, 'GET', `/api/workspaces/${stranger.id}/api-keys`);
  const foreign: string = foreignKeys.body.apiKeys[0].id;
  const before = await rows();
  for (const id of [randomUUID(), foreign, 'nonsense', '%00', `${foreign}0`]) {
    await forEach(
      operations.filter(({ others }) => others.length > 0),
      async (operation) => {
        const params = Object.fromEntries(operation.others.map((name) => [name, id]));
        const body = operation.hasBody ? { body: operation.example } : {};
        const response = await call(operation, { key: workspace.key, params, ...body });
        return [response.status, response.body.code];
      },
      [404, 'RESOURCE_NOT_FOUND'],
    );
  }
  expect(await rows()).toEqual(before);
});

// contract.md W21
test('every path responds 405 with Allow to the methods it does not have, and OPTIONS and HEAD make sense', async () => {
  const paths = Map.groupBy(operations, ({ path }) => path);
  for (const [path, own] of paths) {
    const concrete = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => ids[name] ?? randomUUID());
    const methods = new Set(own.map(({ method }) => method));
    const options = await send(service.url, 'OPTIONS', concrete);
    const allow = new Set(options.headers.get('allow')?.split(', '));
    expect(options.status, path).toBe(204);
    for (const method of methods) expect(allow, path).toContain(method);
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      if (allow.has(method)) continue;
      const response = await send(service.url, method, concrete, { key: workspace.key });
      expect([path, method, response.status]).toEqual([path, method, 405]);
      expect(response.headers.get('allow')).toBe(options.headers.get('allow'));
    }
    expect(allow.has('HEAD'), path).toBe(allow.has('GET'));
  }
});
