import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../src/db/database.ts';
import { defineRoute } from '../../src/http/route.ts';
import { newId, type RoleId } from '../../src/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createWorkspace, startApi, type TestApi, type TestWorkspace } from './support/api.ts';

/** What the route does next. */
let work: (db: Database) => Promise<unknown>;

const broken = defineRoute(
  {
    method: 'get',
    path: '/api/broken',
    operationId: 'broken',
    summary: 'Always fails',
    tags: ['Broken'],
    scope: 'caller',
    permissions: [],
    responses: { 200: { description: 'Never.', schema: z.unknown() } },
  },
  async ({ context }) => ({ status: 200, body: await work(context.db) }),
);

let database: TestDatabase;
let workspace: TestWorkspace;

beforeAll(async () => {
  database = await createTestDatabase();
  workspace = await createWorkspace(database.db);
});
afterAll(() => database.drop());

async function expectProblem(api: TestApi, error: unknown): Promise<string> {
  work = async () => {
    throw error;
  };
  const response = await api.call('GET', '/api/broken', { key: workspace.ownerKey });
  expect([response.status, response.headers.get('content-type'), response.body.code]).toEqual([
    500,
    'application/problem+json',
    'INTERNAL_ERROR',
  ]);
  expect(response.headers.get('x-request-id')).toBe(response.body.requestId);
  return response.body.requestId;
}

test('an error that cannot even be looked at is a problem document and a line of the log', async () => {
  const api = await startApi(database.db, {}, [broken]);
  const hostile = new Error('hidden');
  Object.defineProperty(hostile, 'stack', {
    get: () => {
      throw new Error('not for you');
    },
  });
  const endless = new Error('endless');
  endless.cause = endless;
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  for (const error of [hostile, endless, revoked.proxy, undefined, null, Symbol('x'), { toString: null }]) {
    const requestId = await expectProblem(api, error);
    const lines = api.log.filter((line) => line.includes(requestId)).map((line) => JSON.parse(line));
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      [50, expect.stringMatching(/unexpected error|could not be described/)],
      [30, 'request'],
    ]);
  }
  await api.close();
});

test('a log that takes nothing and a counter that fails cost no response', async () => {
  const logger = pino(
    { level: 'trace' },
    {
      write: () => {
        throw new Error('no space left on device');
      },
    },
  );
  const observe = () => {
    throw new Error('no metrics');
  };
  const api = await startApi(database.db, { logger, observe }, [broken]);
  await expectProblem(api, new Error('anything'));
  expect((await api.call('GET', '/healthz')).status).toBe(200);
  expect((await api.call('GET', '/nowhere')).body.code).toBe('RESOURCE_NOT_FOUND');
  await api.close();
});

// contract.md O22
test('what Postgres stops so that others can go on, and a Postgres out of reach, is 503; what was deleted meanwhile is 404', async () => {
  const causes: unknown[] = [];
  const observe = ({ unavailable }: { unavailable: unknown }) => void causes.push(unavailable);
  const api = await startApi(database.db, { observe }, [broken]);
  const answerTo = async (statement: typeof work) => {
    work = statement;
    const { status, body, headers } = await api.call('GET', '/api/broken', { key: workspace.ownerKey });
    return [status, body.code, headers.get('retry-after')];
  };
  const raise = (code: string) => (db: Database) =>
    sql.raw(`DO $$ BEGIN RAISE EXCEPTION 'stopped' USING ERRCODE = '${code}'; END $$`).execute(db);
  const tooSlow = (db: Database) =>
    db.transaction().execute(async (tx) => {
      await sql`SET LOCAL statement_timeout = 20`.execute(tx);
      await sql`SELECT pg_sleep(10)`.execute(tx);
    });
  const unreachable = (code: string) => async () => {
    throw Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect' });
  };
  for (const away of [
    tooSlow,
    ...['55P03', '25P03', '40P01', '40001', '53300', '28P01'].map(raise),
    ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EMFILE'].map(unreachable),
  ]) {
    expect(await answerTo(away)).toEqual([503, 'SERVICE_UNAVAILABLE', '5']);
  }
  expect(causes).toEqual([...Array(5).fill('database_busy'), ...Array(6).fill('database_away')]);
  const row = { label: 'x', key_hash: Buffer.alloc(32), prefix: 'x'.repeat(16) };
  const orphan = (db: Database) =>
    db
      .insertInto('api_keys')
      .values({ ...row, id: newId(), workspace_id: workspace.id, role_id: newId<RoleId>() })
      .execute();
  const nothing = (db: Database) =>
    db.selectFrom('roles').select('id').where('id', '=', newId<RoleId>()).executeTakeFirstOrThrow();
  for (const gone of [orphan, nothing]) {
    expect(await answerTo(gone)).toEqual([404, 'RESOURCE_NOT_FOUND', null]);
  }
  expect(await answerTo(raise('22012'))).toEqual([500, 'INTERNAL_ERROR', null]);
  await api.close();
});
