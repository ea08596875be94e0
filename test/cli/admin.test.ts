import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseKey } from '../../src/api-keys/key-format.ts';
import { newId, type WorkspaceId } from '../../src/ids.ts';
import { PERMISSIONS } from '../../src/permissions.ts';
import { createProject } from '../../src/projects/create.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertEndpoint, listenToAll } from '../support/events.ts';
import { storeDeliveries } from '../webhooks/api/support/deliveries.ts';
import { type Outcome, runCli } from './run.ts';

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(path.join(tmpdir(), 'wcs-cli-'));
});

afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

const admin = (...args: string[]): Promise<Outcome> =>
  runCli('admin', args, { DATABASE_URL: database.url, DATA_DIR: path.join(folder, 'data') });

/** Runs a command that must succeed and answers with its JSON, which must be all there is on stdout. */
async function answer(...args: string[]): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await admin(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, string>;
}

const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/);

it('sets a workspace up from nothing to an article, one JSON object a command', async () => {
  const { db } = database;
  const created: Record<string, unknown> = await answer(
    'workspace',
    'create',
    '--name',
    ' Acme ',
    '--credits',
    '7',
  );
  expect(created).toEqual({
    workspaceId: UUID,
    roles: { owner: UUID, admin: UUID, editor: UUID },
    apiKey: { id: UUID, key: expect.stringMatching(/^wcsk_[0-9A-Za-z]{49}$/) },
  });
  const { workspaceId, roles, apiKey } = created as {
    workspaceId: WorkspaceId;
    roles: { owner: string };
    apiKey: { id: string; key: string };
  };
  const owner = await db
    .selectFrom('api_keys')
    .innerJoin('roles', 'roles.id', 'api_keys.role_id')
    .select(['api_keys.id', 'roles.id as roleId', 'roles.permissions'])
    .where('key_hash', '=', parseKey(apiKey.key))
    .executeTakeFirstOrThrow();
  expect(owner).toEqual({ id: apiKey.id, roleId: roles.owner, permissions: [...PERMISSIONS] });

  const workspace = ['--workspace', workspaceId];
  const [role, project] = await Promise.all([
    answer(
      'role',
      'create',
      ...workspace,
      '--name',
      'Reader',
      '--permissions',
      'articles.read, credits.read',
    ),
    answer(
      'project',
      'create',
      ...workspace,
      '--name',
      'Blog',
      '--languages',
      'en,pt-br,EN',
      '--primary-language',
      'EN',
    ),
  ]);
  expect([role, project]).toEqual([{ roleId: UUID }, { projectId: UUID }]);
  expect(await db.selectFrom('projects').select(['languages', 'primary_language']).execute()).toEqual([
    { languages: ['en', 'pt-BR'], primary_language: 'en' },
  ]);

  const file = path.join(folder, 'hello.md');
  writeFileSync(file, '# Hello\n\nThree more words.\n');
  const [key, article, updated] = await Promise.all([
    answer(
      'key',
      'create',
      ...workspace,
      '--role',
      role?.roleId ?? '',
      '--label',
      'CI',
      '--expires-at',
      '2001-01-01T00:00:00Z',
    ),
    answer(
      'article',
      'import',
      '--project',
      project?.projectId ?? '',
      '--language',
      'en',
      '--file',
      file,
      '--status',
      'PUBLISHED',
      '--keywords',
      'b, a,b',
    ),
    answer('role', 'update', '--role', role?.roleId ?? '', '--permissions', 'articles.read'),
  ]);
  expect([key, updated]).toEqual([{ id: UUID, key: expect.stringMatching(/^wcsk_/) }, role]);
  expect(article).toEqual({ articleId: UUID, translationGroupId: UUID, wordCount: 3 });
  expect(await db.selectFrom('articles').select(['title', 'status', 'target_keywords']).execute()).toEqual([
    { title: 'Hello', status: 'PUBLISHED', target_keywords: ['b', 'a'] },
  ]);

  // The role's only key has expired, so nothing that lives uses it.
  expect(await answer('role', 'delete', '--role', role?.roleId ?? '')).toEqual({ ok: true });
  const actions = await db
    .selectFrom('audit_entries')
    .select('action')
    .where('workspace_id', '=', workspaceId)
    .execute();
  expect(actions.map(({ action }) => action).sort()).toEqual([
    'api_keys.created',
    'api_keys.created',
    'articles.imported',
    'projects.created',
    'roles.created',
    'roles.deleted',
    'roles.updated',
    'workspaces.created',
  ]);
});

it('grants credits once for a payment event, and the ledger stays the sum of the balance', async () => {
  const { db } = database;
  const { workspaceId } = await createWorkspace(db, { name: 'Payer', credits: 10 });
  await listenToAll(db, workspaceId);
  const grant = [
    'credits',
    'grant',
    '--workspace',
    workspaceId,
    '--amount',
    '5',
    '--payment-event-id',
    'evt_1',
  ];
  const both = await Promise.all([answer(...grant), answer(...grant)]);
  expect(both).toEqual(Array(2).fill({ balance: 15, reserved: 0, available: 15 }));
  const events = await db
    .selectFrom('events')
    .select('body')
    .where('workspace_id', '=', workspaceId)
    .where('type', '=', 'credits.granted')
    .execute();
  expect(events.map(({ body }) => JSON.parse(body.toString()))).toEqual([
    { event: 'credits.granted', data: { creditAmount: 5, paymentEventId: 'evt_1' } },
  ]);
  // Nothing sends it here, and it is not to be in the queue of the other tests.
  await db.deleteFrom('webhook_open').where('workspace_id', '=', workspaceId).execute();
  const { sum } = await db
    .selectFrom('ledger_entries')
    .select((eb) => eb.fn.sum<string>('amount').as('sum'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  expect(Number(sum)).toBe(15);
});

// contract.md A31
it('sets limits and switches endpoints off and on', async () => {
  const { db } = database;
  const { workspaceId } = await createWorkspace(db, { name: 'Limits', credits: 0 });
  const endpoint = await insertEndpoint(db, workspaceId, { events: ['credits.granted'] });
  const [limits, disabled] = await Promise.all([
    answer('workspace', 'set-limits', '--workspace', workspaceId, '--ai-operations', '3'),
    answer('endpoint', 'disable', '--endpoint', endpoint),
  ]);
  const before = { ok: true, aiOperations: 3, storageBytes: 1_073_741_824 };
  expect(limits).toEqual({ ...before, requestsPerKey: null, requestsPerWorkspace: null });
  const set = (...options: string[]) =>
    answer('workspace', 'set-limits', '--workspace', workspaceId, ...options);
  expect(await set('--requests-per-key', '0', '--requests-per-workspace', '90')).toEqual({
    ...before,
    requestsPerKey: 0,
    requestsPerWorkspace: 90,
  });
  expect(await set('--requests-per-key', 'default')).toEqual({
    ...before,
    requestsPerKey: null,
    requestsPerWorkspace: 90,
  });
  const refused = await admin(
    'workspace',
    'set-limits',
    '--workspace',
    workspaceId,
    '--requests-per-key',
    'x',
  );
  expect([refused.code, refused.stderr]).toEqual([
    1,
    'error: --requests-per-key: Expected a whole number from 0 to 2147483647, or default.\n',
  ]);
  const { entries } = await answer('audit', 'list', '--workspace', workspaceId, '--limit', '1');
  expect(entries).toMatchObject([
    { action: 'quotas.updated', details: { requestsPerKey: null, requestsPerWorkspace: 90 } },
  ]);
  expect(disabled).toEqual({ ok: true, endpointId: endpoint, active: false });
  const isActive = () =>
    db.selectFrom('webhook_endpoints').select('active').where('id', '=', endpoint).execute();
  expect(await isActive()).toEqual([{ active: false }]);
  const readable = await admin('endpoint', 'enable', '--endpoint', endpoint);
  expect(readable).toEqual({
    code: 0,
    stderr: '',
    stdout: `ok          true\nendpointId  ${endpoint}\nactive      true\n`,
  });
  expect(await isActive()).toEqual([{ active: true }]);
});

it('finds workspaces, roles, projects and endpoints whose ids are not known', async () => {
  const { db } = database;
  const { workspaceId, roles } = await createWorkspace(db, { name: 'Lost and Found', credits: 3 });
  const gone = await createWorkspace(db, { name: 'Lost for good', credits: 0 });
  await db
    .updateTable('workspaces')
    .set({ deleted_at: new Date() })
    .where('id', '=', gone.workspaceId)
    .execute();
  const endpoint = await insertEndpoint(db, workspaceId, {
    url: 'https://example.com/hooks',
    secret: 'not to be shown',
    events: ['credits.granted', 'article.created'],
  });
  const workspace = ['--workspace', workspaceId];
  const projectId = await createProject(
    { db, actor: { kind: 'operator', workspaceId }, requestId: 'lost-and-found' },
    { name: 'Site', languages: ['en', 'es'], primaryLanguage: 'en' },
  );

  const [found, ofRoles, ofProjects, ofEndpoints] = await Promise.all([
    answer('workspace', 'list', '--name', 'lost'),
    answer('role', 'list', ...workspace),
    answer('project', 'list', ...workspace),
    answer('endpoint', 'list', ...workspace),
  ]);
  expect(found).toEqual({
    workspaces: [
      {
        workspaceId,
        name: 'Lost and Found',
        balance: 3,
        reserved: 0,
        createdAt: expect.anything(),
        suspendedAt: null,
        deletedAt: null,
      },
    ],
  });
  expect(ofRoles.roles).toContainEqual({
    roleId: roles.owner,
    name: 'Owner',
    builtIn: true,
    permissions: [...PERMISSIONS].sort(),
  });
  expect(ofProjects).toEqual({
    projects: [{ projectId, name: 'Site', primaryLanguage: 'en', languages: ['en', 'es'] }],
  });
  expect(ofEndpoints).toEqual({
    endpoints: [
      {
        endpointId: endpoint,
        url: 'https://example.com/hooks',
        active: true,
        events: ['credits.granted', 'article.created'],
        pausedAt: null,
        disabledFor: null,
      },
    ],
  });
  const late = await admin(
    'key',
    'create',
    '--workspace',
    gone.workspaceId,
    '--role',
    gone.roles.owner,
    '--label',
    'L',
  );
  expect(late).toMatchObject({ code: 1, stderr: `error: No such workspace ${gone.workspaceId}.\n` });
});

it('shows what waits for which endpoint, and cancels one delivery of an endpoint, or all, each with its audit entry', async () => {
  const { db } = database;
  const { workspaceId } = await createWorkspace(db, { name: 'Queue', credits: 0 });
  const workspace = { id: workspaceId };
  const events = ['credits.granted'];
  const long = await insertEndpoint(db, workspaceId, { events });
  const old = await insertEndpoint(db, workspaceId, { events });
  await storeDeliveries(db, workspace, long, { count: 1_200, state: 'pending' });
  await storeDeliveries(db, workspace, long, { count: 3, state: 'waiting' });
  const due = sql<Date>`now() - interval '1 hour'`;
  const [delivery = ''] = await storeDeliveries(db, workspace, old, { count: 1, state: 'pending', due });
  await storeDeliveries(db, workspace, old, { count: 1, state: 'failed' });

  const [queue, list] = await Promise.all([answer('queue'), answer('delivery', 'list', '--endpoint', old)]);
  const [longest, oldest] = [
    { endpointId: long, open: 1_203, inRuns: 3, inBursts: 0, due: 1_200 },
    { endpointId: old, workspaceId, active: true, open: 1, inRuns: 0, inBursts: 0, due: 1 },
  ];
  expect(queue).toMatchObject({
    open: 1_204,
    endpoints: 2,
    oldest: [oldest, longest],
    longest: [longest, oldest],
  });
  expect(queue.oldest).toMatchObject([{ oldestDueSeconds: expect.closeTo(3_600, -2) }, {}]);
  expect(list).toMatchObject({ deliveries: [{ id: delivery, attempts: 0, workflowId: null }] });

  const [one, all, foreign] = await Promise.all([
    answer('delivery', 'cancel', '--endpoint', old, '--delivery', delivery),
    answer('delivery', 'cancel', '--endpoint', long),
    admin('delivery', 'cancel', '--endpoint', long, '--delivery', delivery),
  ]);
  expect([one, all]).toEqual([
    { ok: true, cancelled: 1 },
    { ok: true, cancelled: 1_203 },
  ]);
  expect(foreign).toMatchObject({ code: 1, stderr: expect.stringMatching(/No such delivery/) });
  expect(await answer('queue')).toEqual({ open: 0, endpoints: 0, oldest: [], longest: [] });
  const audited = await db
    .selectFrom('audit_entries')
    .select(['target_id', 'details'])
    .where('workspace_id', '=', workspaceId)
    .where('action', '=', 'webhooks.cancelled')
    .execute();
  expect(audited).toHaveLength(3);
  expect(audited).toContainEqual({ target_id: delivery, details: { endpointId: old } });
  expect(audited).toContainEqual({ target_id: long, details: { count: 1_000 } });
  const ends = await db
    .selectFrom('webhook_log')
    .select(['error_message', 'attempts'])
    .where('endpoint_id', '=', long)
    .distinct()
    .orderBy('attempts')
    .execute();
  expect(ends).toEqual([
    { error_message: 'cancelled', attempts: 0 },
    { error_message: 'cancelled', attempts: 1 },
  ]);
});

it('refuses bad input with a message on stderr, a status other than 0 and an empty stdout', async () => {
  const { db } = database;
  const { workspaceId, roles } = await createWorkspace(db, { name: 'Strict', credits: 0 });
  const other = await createWorkspace(db, { name: 'Other', credits: 0 });
  const unknown = newId();
  const tables = [
    'roles',
    'api_keys',
    'projects',
    'articles',
    'ledger_entries',
    'audit_entries',
    'events',
  ] as const;
  const countRows = async () => {
    const counts: Record<string, number> = {};
    for (const table of tables)
      counts[table] = (await db.selectFrom(table).select('workspace_id').execute()).length;
    return counts;
  };
  const before = await countRows();
  const workspace = ['--workspace', workspaceId];
  const cases: [args: string[], message: RegExp][] = [
    [
      ['credits', 'grant', '--workspace', unknown, '--amount', '1'],
      new RegExp(`No such workspace ${unknown}`),
    ],
    [
      ['role', 'create', '--workspace', 'nonsense', '--name', 'R', '--permissions', 'articles.fly'],
      /--workspace: Expected a UUID.*articles\.fly is not one of/s,
    ],
    [['role', 'delete', '--role', roles.owner], /built-in/],
    [['key', 'create', ...workspace, '--role', other.roles.owner, '--label', 'L'], /no such role/],
    [
      ['project', 'create', ...workspace, '--name', 'P', '--languages', 'en', '--primary-language', 'es'],
      /not one of/,
    ],
    [['workspace', 'create', '--credits', '5'], /--name.*Add --help/s],
  ];
  // Two at a time: each is a process of its own.
  for (let index = 0; index < cases.length; index += 2) {
    await Promise.all(
      cases.slice(index, index + 2).map(async ([args, message]) => {
        const outcome = await admin(...args, '--json');
        expect(outcome, args.join(' ')).toMatchObject({
          code: 1,
          stdout: '',
          stderr: expect.stringMatching(message),
        });
      }),
    );
  }
  expect(await countRows()).toEqual(before);
  const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  expect(await runCli('admin', ['queue'], nowhere)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: The database of DATABASE_URL cannot be used: .*ECONNREFUSED.*\n$/),
  });
});

it('migrates an empty database, and says so when there is nothing left to do', async () => {
  const own = await createTestDatabase('template0');
  try {
    const environment = { DATABASE_URL: own.url, DATA_DIR: folder };
    const first = await runCli('migrate', [], environment);
    expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^(applied \d{4}_\w+\n)+$/) });
    const again = await runCli('migrate', [], environment);
    expect(again).toMatchObject({ code: 0, stdout: 'the schema is up to date\n' });
  } finally {
    await own.drop();
  }
});

it('works on a fresh data folder whose database does not run, and keeps what it wrote', async () => {
  const environment = { DATA_DIR: path.join(folder, 'embedded') };
  const first = await runCli('admin', ['workspace', 'create', '--name', 'Embedded', '--json'], environment);
  expect(first).toMatchObject({ code: 0 });
  const { workspaceId } = JSON.parse(first.stdout) as { workspaceId: string };
  const second = await runCli(
    'admin',
    ['credits', 'grant', '--workspace', workspaceId, '--amount', '1', '--json'],
    environment,
  );
  expect(second).toMatchObject({ code: 0 });
  expect(JSON.parse(second.stdout)).toEqual({ balance: 1001, reserved: 0, available: 1001 });
});
