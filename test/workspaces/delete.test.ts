import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import { grantCredits } from '../../src/credits/wallet.ts';
import { bootstrapWorkspace, DEFAULT_WORKSPACE } from '../../src/workspaces/bootstrap.ts';
import { deleteWorkspace } from '../../src/workspaces/delete.ts';
import { emptyWorkspace } from '../../src/workspaces/empty.ts';
import { restoreWorkspace } from '../../src/workspaces/life.ts';
import { createArticle } from '../support/articles.ts';
import { emptyDeleted } from '../support/emptying.ts';
import { register } from '../support/events.ts';
import { useTestService } from '../support/service.ts';
import { storeDeliveries } from '../webhooks/api/support/deliveries.ts';

const service = useTestService();
const DAY_MS = 86_400_000;

it('only an owner of the workspace can delete it', async () => {
  const workspace = await service.workspace();
  const stranger = await service.workspace();
  const path = `/api/workspaces/${workspace.id}`;
  const admin = await createApiKey(workspace.context, { label: 'admin', roleId: workspace.roles.admin });

  const refused = await service.call(admin.key, 'DELETE', path);
  expect([refused.status, refused.body.details]).toEqual([403, { permissions: ['workspaces.delete'] }]);
  expect((await service.call(stranger.key, 'DELETE', path)).status).toBe(404);
  expect((await service.call(workspace.key, 'GET', '/api/whoami')).status).toBe(200);
});

// contract.md E9, L1 and L2
it('a workspace without an open job is closed at once, without an event, and is whole again when it is restored', async () => {
  const workspace = await service.workspace();
  const stranger = await service.workspace();
  const path = `/api/workspaces/${workspace.id}`;
  const projectId = await service.project(workspace);
  const article = await createArticle(service.db, workspace, projectId, { status: 'PUBLISHED' });
  const endpoint = await register(service, workspace, 'http://127.0.0.1:9/');

  const queued = await service.call(workspace.key, 'POST', `/api/articles/${article.id}/translations`, {
    language: 'es',
  });
  const running = await service.call(workspace.key, 'DELETE', path);
  expect([running.status, running.body.details]).toEqual([409, { reason: 'job_running' }]);
  const cancelled = await service.call(workspace.key, 'POST', `/api/jobs/${queued.body.job.id}/cancel`);
  expect(cancelled.status).toBe(202);
  const before = await service.call(workspace.key, 'GET', `/api/articles/${article.id}`);
  const events = () => service.db.selectFrom('events').select('id').execute();
  const sent = await events();
  const storedEndpoint = () =>
    service.db
      .selectFrom('webhook_endpoints')
      .select(['secret', 'silenced_at'])
      .where('id', '=', endpoint.id)
      .executeTakeFirstOrThrow();
  const stored = await storedEndpoint();
  expect(stored).toMatchObject({ secret: expect.stringMatching(/^v1:/), silenced_at: null });

  const deleted = await service.call(workspace.key, 'DELETE', path);
  expect([deleted.status, deleted.body]).toEqual([200, { ok: true }]);
  expect((await service.call(workspace.key, 'GET', '/api/whoami')).status).toBe(401);
  expect((await service.call(workspace.key, 'GET', `/api/articles/${article.id}`)).status).toBe(401);
  expect((await service.call(stranger.key, 'GET', '/api/whoami')).status).toBe(200);
  expect(await events()).toEqual(sent);
  await expect(grantCredits(workspace.context, { amount: 1 })).rejects.toMatchObject({
    code: 'RESOURCE_NOT_FOUND',
  });
  // Its grace is not over.
  await emptyDeleted(service.db, DAY_MS);

  await restoreWorkspace(workspace.context);
  const after = await service.call(workspace.key, 'GET', `/api/articles/${article.id}`);
  expect([after.status, after.body]).toEqual([200, before.body]);
  expect(await storedEndpoint()).toEqual(stored);
  const { body } = await service.call(workspace.key, 'GET', `${path}/audit?limit=2`);
  expect(body.entries.map(({ action }: { action: string }) => action)).toEqual([
    'workspaces.restored',
    'workspaces.deleted',
  ]);
});

// contract.md L3
it('after the grace keys and secrets go first, and nobody can restore it', async () => {
  const workspace = await service.workspace();
  const endpoint = await register(service, workspace, 'http://127.0.0.1:9/');
  await deleteWorkspace(workspace.context);
  await expect(deleteWorkspace(workspace.context)).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
  await emptyDeleted(service.db);
  const { deleted_at, secret } = await service.db
    .selectFrom('webhook_endpoints')
    .select(['deleted_at', 'secret'])
    .where('id', '=', endpoint.id)
    .executeTakeFirstOrThrow();
  expect([deleted_at, secret]).toEqual([expect.any(Date), '']);
  const living = service.db.selectFrom('api_keys').select('id').where('revoked_at', 'is', null);
  expect(await living.where('workspace_id', '=', workspace.id).execute()).toEqual([]);
  // The endpoint's row stays for two minutes, and with it the workspace's.
  await expect(restoreWorkspace(workspace.context)).rejects.toMatchObject({ code: 'CONFLICT' });
});

it('a deletion waits for no write that is under way', async () => {
  const workspace = await service.workspace();
  const projectId = await service.project(workspace);
  const { id } = await createArticle(service.db, workspace, projectId);
  await service.db.transaction().execute(async (tx) => {
    await tx.selectFrom('articles').select('id').where('id', '=', id).forUpdate().execute();
    // Its foreign key locks the workspace's row.
    await sql`INSERT INTO idea_clusters (id, workspace_id, project_id, title)
      VALUES (gen_random_uuid(), ${workspace.id}, ${projectId}, 'x')`.execute(tx);
    const response = await service.call(workspace.key, 'DELETE', `/api/workspaces/${workspace.id}`);
    expect([response.status, response.body]).toEqual([200, { ok: true }]);
  });
});

// contract.md L2 and L3
it('restoring and emptying at once: one of both wins', async () => {
  for (let round = 0; round < 10; round += 1) {
    const workspace = await service.workspace();
    await deleteWorkspace(workspace.context);
    const [restored] = await Promise.allSettled([
      restoreWorkspace(workspace.context),
      emptyDeleted(service.db),
    ]);
    const { status } = await service.call(workspace.key, 'GET', '/api/whoami');
    expect([restored.status, status]).toEqual(
      restored.status === 'fulfilled' ? ['fulfilled', 200] : ['rejected', 401],
    );
  }
});

it('an endpoint that is registered while its workspace is deleted is silent', async () => {
  for (let round = 0; round < 5; round += 1) {
    const workspace = await service.workspace();
    await Promise.allSettled([
      register(service, workspace, 'http://127.0.0.1:9/'),
      deleteWorkspace(workspace.context),
    ]);
    const heard = service.db.selectFrom('webhook_endpoints').select('id').where('silenced_at', 'is', null);
    expect(await heard.where('workspace_id', '=', workspace.id).execute()).toEqual([]);
  }
});

// contract.md L4
it('a first workspace that is deleted is not made anew while it can be restored', async () => {
  const first = await bootstrapWorkspace(service.db);
  const workspaceId = first?.workspaceId ?? expect.fail();
  const context = { db: service.db, actor: { kind: 'operator', workspaceId } as const, requestId: 'test' };
  await deleteWorkspace(context);
  expect(await bootstrapWorkspace(service.db)).toBeNull();
  await emptyDeleted(service.db);
  expect(await bootstrapWorkspace(service.db)).not.toBeNull();
  const named = service.db.selectFrom('workspaces').select('id').where('name', '=', DEFAULT_WORKSPACE);
  expect(await named.execute()).toHaveLength(1);
});

it('a workspace of very many rows is emptied in batches', async () => {
  const workspace = await service.workspace();
  const projectId = await service.project(workspace);
  await createArticle(service.db, workspace, projectId, { status: 'PUBLISHED' });
  await sql`INSERT INTO events (id, workspace_id, type, body, created_at)
    SELECT gen_random_uuid(), ${workspace.id}, 'ping', '', now() FROM generate_series(1, 12500)`.execute(
    service.db,
  );
  const count = async () =>
    (await service.db.selectFrom('events').select('id').where('workspace_id', '=', workspace.id).execute())
      .length;
  await deleteWorkspace(workspace.context);
  expect(await count()).toBe(12_500);
  let batches = 0;
  const goesOn = () => {
    batches += 1;
    return batches < 3;
  };
  expect(await emptyWorkspace(service.db, workspace.id, goesOn)).toBe(false);
  const left = await count();
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(12_500);
  await emptyDeleted(service.db);
  const rows = service.db.selectFrom('workspaces').select('id').where('id', '=', workspace.id);
  expect([await count(), await rows.execute()]).toEqual([0, []]);
});

it("a workspace's endpoints are silent at once, and go before it, with open deliveries and log; neighbours keep theirs", async () => {
  const [workspace, neighbour] = [await service.workspace(), await service.workspace()];
  const [ours, theirs] = [
    await register(service, workspace, 'http://127.0.0.1:9/'),
    await register(service, neighbour, 'http://127.0.0.1:9/'),
  ];
  for (const state of ['pending', 'waiting', 'failed', 'succeeded'] as const) {
    await storeDeliveries(service.db, workspace, ours.id, { count: 20, state, age: 90_000 });
    await storeDeliveries(service.db, neighbour, theirs.id, { count: 20, state, age: 90_000 });
  }
  const counts = async (id: string) => {
    const { rows } = await sql<{ open: number; logged: number; events: number }>`SELECT
      (SELECT count(*) FROM webhook_open WHERE workspace_id = ${id}) AS open,
      (SELECT count(*) FROM webhook_log WHERE workspace_id = ${id}) AS logged,
      (SELECT count(*) FROM events WHERE workspace_id = ${id}) AS events`.execute(service.db);
    return rows[0];
  };
  const endpoint = () =>
    service.db
      .selectFrom('webhook_endpoints')
      .select(['silenced_at', 'deleted_at'])
      .where('id', '=', ours.id)
      .execute();
  await deleteWorkspace(workspace.context);
  expect(await endpoint()).toEqual([{ silenced_at: expect.any(Date), deleted_at: null }]);
  expect(await counts(workspace.id)).toEqual({ open: 40, logged: 40, events: 80 });
  await emptyDeleted(service.db);
  expect(await counts(workspace.id)).toEqual({ open: 0, logged: 0, events: 0 });
  expect(await counts(neighbour.id)).toEqual({ open: 40, logged: 40, events: 80 });
  await sql`UPDATE webhook_endpoints SET deleted_at = now() - interval '3 minutes' WHERE id = ${ours.id}`.execute(
    service.db,
  );
  expect(await emptyWorkspace(service.db, workspace.id, () => true)).toBe(true);
  expect(await endpoint()).toEqual([]);
  expect(
    await service.db.selectFrom('workspaces').select('id').where('id', '=', workspace.id).execute(),
  ).toEqual([]);
});
