import { expect, it } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import { readTextBytes } from '../../src/db/quotas.ts';
import { editing } from '../articles/support.ts';
import { emptyDeleted } from '../support/emptying.ts';
import { useTestService } from '../support/service.ts';
import { connectOperator } from '../support/temporal.ts';
import { type Outcome, runCli } from './run.ts';

const service = useTestService();

const admin = (...args: string[]): Promise<Outcome> => runCli('admin', args, service.env);

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await admin(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

// contract.md K17
it('an operator lists the keys of a workspace, revokes any of them, and purges ended ones, each in the audit log', async () => {
  const workspace = await service.workspace();
  const of = ['--workspace', workspace.id];
  const leaked = await createApiKey(workspace.context, {
    label: 'CI \u001b[2J',
    roleId: workspace.roles.editor,
  });
  const whoami = async () => (await service.call(leaked.key, 'GET', '/api/whoami')).status;
  expect(await whoami()).toBe(200);

  const first = await json('key', 'list', ...of, '--limit', '1');
  expect(first).toEqual({
    keys: [
      {
        keyId: leaked.apiKey.id,
        label: 'CI \u001b[2J',
        prefix: leaked.apiKey.prefix,
        roleId: workspace.roles.editor,
        createdAt: expect.any(String),
        lastUsedAt: expect.toSatisfy((time) => time === null || typeof time === 'string'),
        expiresAt: null,
        revokedAt: null,
      },
    ],
    nextCursor: expect.any(String),
  });
  const second = await json('key', 'list', ...of, '--limit', '1', '--cursor', first.nextCursor);
  expect(second).toMatchObject({ keys: [{ keyId: workspace.keyId }], nextCursor: null });
  const readable = await admin('key', 'list', ...of);
  expect(readable.stdout).toContain('CI \\u001b[2J');
  expect(readable.stdout).not.toContain('\u001b');

  const revoke = ['key', 'revoke', '--key', leaked.apiKey.id];
  expect(await json(...revoke)).toEqual({ ok: true, keyId: leaked.apiKey.id });
  expect(await whoami()).toBe(401);
  expect(await admin(...revoke)).toMatchObject({ code: 1, stderr: 'error: No such API key.\n' });

  const purge = (time: string) => json('key', 'purge', ...of, '--ended-before', time);
  expect(await purge('2020-01-01T00:00:00Z')).toEqual({ ok: true, purged: 0 });
  expect(await purge('2100-01-01T00:00:00Z')).toEqual({ ok: true, purged: 1 });
  expect(await json('key', 'list', ...of)).toMatchObject({ keys: [{ keyId: workspace.keyId }] });
  expect(await admin(...revoke)).toMatchObject({
    code: 1,
    stderr: `error: No such API key ${leaked.apiKey.id}.\n`,
  });

  const { entries } = await json('audit', 'list', ...of, '--limit', '2');
  expect(entries).toMatchObject([
    {
      action: 'api_keys.purged',
      actor: 'operator',
      actorId: null,
      targetId: workspace.id,
      details: { endedBefore: '2100-01-01T00:00:00.000Z', count: 1 },
    },
    { action: 'api_keys.revoked', actor: 'operator', actorId: null, targetId: leaked.apiKey.id },
  ]);
  expect((await admin('audit', 'list', ...of)).stdout).toMatch(/action +api_keys\.purged/);
});

it('an operator lists, shows and cancels the jobs of a workspace, and sees its wallet and what it has', async () => {
  const workspace = await service.workspace(10);
  const editor = editing(service, workspace);
  const source = await editor.create(await service.project(workspace));
  const started = await service.call(workspace.key, 'POST', `/api/articles/${source.id}/translations`, {
    language: 'es',
  });
  const jobId: string = started.body.job.id;
  const of = ['--workspace', workspace.id];

  const { jobs, nextCursor } = await json('job', 'list', ...of, '--open');
  expect(jobs).toMatchObject([{ jobId, kind: 'translation', status: 'QUEUED', progress: 0 }]);
  expect(nextCursor).toBeNull();
  const { id: _, ...job } = (await service.call(workspace.key, 'GET', `/api/jobs/${jobId}`)).body.job;
  expect(await json('job', 'show', '--job', jobId)).toEqual({ jobId, ...job });
  const { reservedCredits } = job;
  expect(reservedCredits).toBeGreaterThan(0);
  const reserved = { balance: 10, reserved: reservedCredits, available: 10 - reservedCredits };
  expect(await json('wallet', 'show', ...of)).toEqual(reserved);
  const texts = await readTextBytes(service.db, workspace.id);
  expect(texts).toBeGreaterThan(0);
  expect(await json('workspace', 'show', ...of)).toEqual({
    workspaceId: workspace.id,
    name: 'Test',
    createdAt: expect.any(String),
    suspendedAt: null,
    wallet: reserved,
    aiOperations: { used: expect.any(Number), limit: 1_000 },
    storageBytes: { used: texts, texts, limit: 1_073_741_824 },
    requestsPerMinute: { key: null, workspace: null },
    keys: { living: 1, all: 1 },
    roles: 3,
    projects: 1,
    articles: 2,
    endpoints: 1,
    openJobs: 1,
  });

  expect(await json('job', 'cancel', '--job', jobId)).toMatchObject({ jobId, status: 'CANCELLED' });
  const { workflow_id } = await service.db
    .selectFrom('jobs')
    .select('workflow_id')
    .where('workspace_id', '=', workspace.id)
    .executeTakeFirstOrThrow();
  const operator = await connectOperator();
  expect(await operator.kept(workflow_id)).toContain('workflowExecutionCancelRequested');
  await operator.close();
  expect(await json('wallet', 'show', ...of)).toEqual({ balance: 10, reserved: 0, available: 10 });
  expect(await json('job', 'list', ...of, '--open')).toEqual({ jobs: [], nextCursor: null });
  expect(await json('job', 'list', ...of)).toMatchObject({ jobs: [{ jobId, status: 'CANCELLED' }] });
  expect(await json('audit', 'list', ...of, '--limit', '1')).toMatchObject({
    entries: [{ action: 'jobs.cancelled', actor: 'operator', targetType: 'job', targetId: jobId }],
  });
  const again = await admin('job', 'cancel', '--job', jobId);
  expect([again.code, again.stderr]).toEqual([
    1,
    'error: The job has already ended; there is nothing to cancel.\n',
  ]);
});

it('lists have a bound, and what is not there is an error', async () => {
  const workspace = await service.workspace();
  const nothing = '00000000-0000-4000-8000-000000000000';
  const refused: [Outcome, RegExp][] = [
    [
      await admin('audit', 'list', '--workspace', workspace.id, '--limit', '1001'),
      /--limit: Expected at most 1000\./,
    ],
    [await admin('key', 'list', '--workspace', workspace.id, '--cursor', 'nonsense'), /nextCursor/],
    [await admin('job', 'show', '--job', nothing), /No such job 0000/],
    [await admin('job', 'cancel', '--job', nothing), /No such job 0000/],
    [await admin('wallet', 'show', '--workspace', nothing), /No such workspace 0000/],
    [await admin('workspace', 'show', '--workspace', nothing), /No such workspace 0000/],
    [
      await admin('key', 'purge', '--workspace', workspace.id, '--ended-before', 'yesterday'),
      /--ended-before/,
    ],
  ];
  for (const [{ code, stdout, stderr }, message] of refused) {
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(message);
  }
});

// contract.md L10
it("the operators' log says who did what and when, and stays when the workspace is gone", async () => {
  const as = async (operator: string, ...args: string[]) => {
    const { code, stdout, stderr } = await runCli('admin', [...args, '--json'], {
      ...service.env,
      OPERATOR: operator,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout);
  };
  const made = await as('ada', 'workspace', 'create', '--name', 'Short-lived');
  const of = ['--workspace', made.workspaceId];
  await as('ada', 'credits', 'grant', ...of, '--amount', '5');
  await as('grace', 'workspace', 'suspend', ...of);
  await as('grace', 'workspace', 'suspend', ...of);
  expect(await as('grace', 'workspace', 'show', ...of)).toMatchObject({ suspendedAt: expect.any(String) });
  await as('grace', 'workspace', 'resume', ...of);
  await as('ada', 'workspace', 'delete', ...of);
  const { workspaces } = await as('ada', 'workspace', 'list', '--deleted');
  expect(workspaces).toMatchObject([{ workspaceId: made.workspaceId, deletedAt: expect.any(String) }]);
  const refused = await admin('workspace', 'show', ...of);
  expect([refused.code, refused.stderr]).toEqual([1, `error: No such workspace ${made.workspaceId}.\n`]);
  await as('ada', 'workspace', 'restore', ...of);
  const call = service.call(made.apiKey.key, 'DELETE', `/api/workspaces/${made.workspaceId}`);
  expect((await call).status).toBe(200);
  await emptyDeleted(service.db);
  const gone = service.db.selectFrom('workspaces').select('id').where('id', '=', made.workspaceId);
  expect(await gone.execute()).toEqual([]);

  const { operations, nextCursor } = await as('ada', 'log', 'list', ...of);
  expect(nextCursor).toBeNull();
  const key = made.apiKey.key.slice(0, 12);
  const told = operations.map(({ operator, action }: { operator: string; action: string }) => [
    operator.startsWith('key ') && key.startsWith(operator.slice(4, 16)) ? 'its key' : operator,
    action,
  ]);
  expect(told).toEqual([
    ['its key', 'workspaces.deleted'],
    ['ada', 'workspaces.restored'],
    ['ada', 'workspaces.deleted'],
    ['grace', 'workspaces.resumed'],
    ['grace', 'workspaces.suspended'],
    ['ada', 'credits.granted'],
    ['ada', 'api_keys.created'],
    ['ada', 'workspaces.created'],
  ]);
  expect(operations[0]).toMatchObject({ workspaceName: 'Short-lived', createdAt: expect.any(String) });
  const page = await as('ada', 'log', 'list', '--limit', '1');
  expect(page).toMatchObject({ operations: [operations[0]], nextCursor: expect.any(String) });
});
