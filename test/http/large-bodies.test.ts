import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createDatabase } from '../../src/db/database.ts';
import { DEFAULT_HTTP_LIMITS } from '../../src/http/limits.ts';
import { defineRoute } from '../../src/http/route.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/wait.ts';
import {
  type Answer,
  createWorkspace,
  edgeRoutes,
  startApi,
  type TestApi,
  type TestWorkspace,
} from './support/api.ts';

const MIB = 1024 * 1024;
/** A body that takes a turn. */
const LARGE = 300 * 1024;

/** Bodies at work, in the order in which they began; each ends when it is told to. */
const atWork = new Map<string, () => void>();
const end = (name: string): void => {
  atWork.get(name)?.();
  atWork.delete(name);
};
const untilEnded = (name: string) => new Promise<void>((resolve) => atWork.set(name, resolve));

const bodySchema = z.object({ name: z.string() });
const response = z.object({ name: z.string() });
const definition = {
  method: 'post',
  summary: 'Hold',
  tags: ['Hold'],
  scope: 'workspace',
  permissions: [],
  bodyBytes: MIB,
  responses: { 200: { description: 'Ended.', schema: response } },
} as const;

/** A body that is checked until it is told to end. */
const hold = defineRoute(
  {
    ...definition,
    path: '/api/workspaces/{workspaceId}/hold',
    operationId: 'hold',
    bodyChecksAsync: true,
    body: bodySchema.transform(async ({ name }) => {
      await untilEnded(name);
      return { name };
    }),
  },
  async ({ body }) => ({ status: 200, body }),
);

/** What waits for something else until it is told to end: a row that is locked, another machine. */
const store = defineRoute(
  { ...definition, path: '/api/workspaces/{workspaceId}/store', operationId: 'store', body: bodySchema },
  async ({ body }) => {
    await untilEnded(body.name);
    return { status: 200, body };
  },
);
const keep = defineRoute(
  {
    ...definition,
    method: 'put',
    path: '/api/workspaces/{workspaceId}/file',
    operationId: 'keep',
    upload: { mediaTypes: ['image/png'], maxBytes: MIB },
  },
  async ({ bytes }) => {
    const name = `file ${Buffer.from(bytes.subarray(0, 2)).toString()}`;
    await untilEnded(name);
    return { status: 200, body: { name } };
  },
);

let database: TestDatabase;
let single: ReturnType<typeof createDatabase>;
let api: TestApi;
let [a, b, c]: TestWorkspace[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  [a, b, c] = [
    await createWorkspace(database.db, 'A'),
    await createWorkspace(database.db, 'B'),
    await createWorkspace(database.db, 'C'),
  ];
  single = createDatabase({ connectionString: database.url, poolSize: 1 });
  const limits = { ...DEFAULT_HTTP_LIMITS, perKey: 0, largeBodyWaitMs: 3_000 };
  api = await startApi(single, { limits }, [...edgeRoutes(), hold, store, keep]);
});
afterAll(async () => {
  await api.close();
  await single.destroy();
  await database.drop();
});

const bodyOf = (name: string, size: number): string =>
  JSON.stringify({ name, padding: 'x'.repeat(size - 30 - name.length) });
const send = (
  workspace: TestWorkspace | undefined,
  name: string,
  size = LARGE,
  route = 'hold',
): Promise<Answer> =>
  api.call('POST', `/api/workspaces/${workspace?.id}/${route}`, {
    key: workspace?.ownerKey ?? '',
    body: bodyOf(name, size),
  });
const upload = (workspace: TestWorkspace | undefined, name: string): Promise<Answer> =>
  api.call('PUT', `/api/workspaces/${workspace?.id}/file`, {
    key: workspace?.ownerKey ?? '',
    body: name.padEnd(MIB),
    headers: { 'content-type': 'image/png' },
  });
const names = (): string[] => [...atWork.keys()];
const working = (...expected: string[]): Promise<string[]> =>
  eventually(
    async () => names().sort(),
    (now) => isDeepStrictEqual(now, expected),
    10_000,
  );

/** Answered once all requests before it have been let in, for which one connection to the database is used. */
const afterOthers = (to: TestApi): Promise<Answer> =>
  to.call('GET', '/api/whoami', { key: c?.ownerKey ?? '' });

// contract.md A17
test('two large bodies are parsed and checked at once, one of a workspace, and workspaces take turns', async () => {
  const answers = [send(a, 'a1')];
  await working('a1');
  answers.push(send(a, 'a2'), send(a, 'a3'));
  answers.push(send(b, 'b1'));
  await working('a1', 'b1');
  answers.push(send(c, 'c1'));
  // Neither small bodies nor other requests wait, though the pool has one connection.
  const small = send(a, 'small', 200 * 1024);
  await working('a1', 'b1', 'small');
  expect((await api.call('GET', '/api/whoami', { key: c?.ownerKey ?? '' })).status).toBe(200);
  end('small');
  expect((await small).status).toBe(200);

  end('b1');
  await working('a1', 'c1');
  end('a1');
  await eventually(
    async () => atWork.size,
    (size) => size === 2,
  );
  end('c1');
  // The second and the third of one workspace came at the same time, and are served one after the other.
  const [second = ''] = names();
  const third = second === 'a2' ? 'a3' : 'a2';
  await working(second);
  end(second);
  await working(third);
  end(third);
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});

test('a large body that is checked has no turn any more, however long its request waits, and a file needs none', async () => {
  const waiting = [a, b].flatMap((workspace, index) => [
    send(workspace, `${index} first`, LARGE, 'store'),
    send(workspace, `${index} second`, LARGE, 'store'),
  ]);
  const files = ['f1', 'f2', 'f3'].map((name) => upload(a, name));
  const others = send(c, 'other');
  const all = ['0 first', '0 second', '1 first', '1 second', 'file f1', 'file f2', 'file f3', 'other'];
  await working(...all);
  for (const name of all) end(name);
  const answers = await Promise.all([...waiting, ...files, others]);
  expect(answers.map(({ status }) => status)).toEqual(all.map(() => 200));
});

test('a request that waits too long gets a Retry-After, and nothing of it was done', async () => {
  const first = send(a, 'first');
  await working('first');
  const late = await send(a, 'late');
  expect([late.status, late.body.code, late.headers.get('retry-after')]).toEqual([
    503,
    'SERVICE_UNAVAILABLE',
    '5',
  ]);
  await working('first');
  end('first');
  expect((await first).status).toBe(200);
});

test('a client that sends slowly or has gone holds no turn', async () => {
  const open = (workspace: TestWorkspace | undefined, name: string, sent: number) => {
    const body = bodyOf(name, LARGE);
    const head =
      `POST /api/workspaces/${workspace?.id}/hold HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${workspace?.ownerKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    socket.write(head + body.slice(0, sent));
    return socket;
  };
  const slow = [open(a, 'slow', LARGE / 2), open(b, 'slow', LARGE / 2)];
  const first = send(a, 'first');
  await working('first');
  const gone = open(a, 'gone', LARGE);
  await sleep(200);
  const next = send(a, 'next');
  gone.destroy();
  await sleep(200);
  end('first');
  await working('next');
  end('next');
  expect([(await first).status, (await next).status]).toEqual([200, 200]);
  for (const socket of slow) socket.destroy();
});

test('a service that is stopped responds to requests that wait for their turn', async () => {
  const limits = { ...DEFAULT_HTTP_LIMITS, perKey: 0 };
  const stopping = await startApi(single, { limits }, [...edgeRoutes(), hold]);
  const to = (name: string) =>
    stopping.call('POST', `/api/workspaces/${a?.id}/hold`, {
      key: a?.ownerKey ?? '',
      body: bodyOf(name, LARGE),
    });
  const first = to('first');
  await working('first');
  const waiting = to('waiting');
  await afterOthers(stopping);
  const closed = stopping.close();
  end('first');
  await working('waiting');
  end('waiting');
  expect([(await first).status, (await waiting).status]).toEqual([200, 200]);
  await closed;
});
