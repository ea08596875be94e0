import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import { deleteWorkspace } from '../../src/workspaces/delete.ts';
import { emptyWorkspace } from '../../src/workspaces/empty.ts';
import { createArticle } from '../support/articles.ts';
import { register } from '../support/events.ts';
import { useTestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { storeDeliveries } from '../webhooks/api/support/deliveries.ts';

const service = useTestService();

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

// contract.md E9
it('a workspace without an open job is deleted whole, without an event', async () => {
  const workspace = await service.workspace();
  const stranger = await service.workspace();
  const path = `/api/workspaces/${workspace.id}`;
  const projectId = await service.project(workspace);
  const article = await createArticle(service.db, workspace, projectId, { status: 'PUBLISHED' });

  const queued = await service.call(workspace.key, 'POST', `/api/articles/${article.id}/translations`, {
    language: 'es',
  });
  const running = await service.call(workspace.key, 'DELETE', path);
  expect([running.status, running.body.details]).toEqual([409, { reason: 'job_running' }]);
  const cancelled = await service.call(workspace.key, 'POST', `/api/jobs/${queued.body.job.id}/cancel`);
  expect(cancelled.status).toBe(202);

  const deleted = await service.call(workspace.key, 'DELETE', path);
  expect([deleted.status, deleted.body]).toEqual([200, { ok: true }]);
  expect((await service.call(workspace.key, 'GET', '/api/whoami')).status).toBe(401);
  for (const table of ['roles', 'api_keys', 'articles', 'events', 'ledger_entries'] as const) {
    const left = await service.db.selectFrom(table).select('workspace_id').execute();
    expect(new Set(left.map((row) => row.workspace_id))).not.toContain(workspace.id);
  }
  expect((await service.call(stranger.key, 'GET', '/api/whoami')).status).toBe(200);
});

it('a workspace too large for one request is closed at once, and reconcile removes its rows in batches', async () => {
  const workspace = await service.workspace();
  const projectId = await service.project(workspace);
  const { id } = await createArticle(service.db, workspace, projectId, { status: 'PUBLISHED' });
  await sql`INSERT INTO events (id, workspace_id, type, body, created_at)
    SELECT gen_random_uuid(), ${workspace.id}, 'ping', '', now() FROM generate_series(1, 12500)`.execute(
    service.db,
  );
  // No patience at all: what a request has that finds more than it may wait for.
  await deleteWorkspace(workspace.context, 0);
  expect((await service.call(workspace.key, 'GET', `/api/articles/${id}`)).status).toBe(401);
  const count = async () =>
    (await service.db.selectFrom('events').select('id').where('workspace_id', '=', workspace.id).execute())
      .length;
  expect(await count()).toBeGreaterThan(0);
  await expect(deleteWorkspace(workspace.context, 0)).resolves.toBeUndefined();

  await service.startWorker();
  await eventually(
    () => service.db.selectFrom('workspaces').select('id').where('id', '=', workspace.id).execute(),
    (rows) => rows.length === 0,
    60_000,
  );
  expect(await count()).toBe(0);
});

it('a batch that is blocked takes none of the others back', async () => {
  const workspace = await service.workspace();
  const projectId = await service.project(workspace);
  const { id } = await createArticle(service.db, workspace, projectId);
  await sql`INSERT INTO events (id, workspace_id, type, body, created_at)
    SELECT gen_random_uuid(), ${workspace.id}, 'ping', '', now() FROM generate_series(1, 1500)`.execute(
    service.db,
  );
  const path = `/api/workspaces/${workspace.id}`;
  await service.db.transaction().execute(async (tx) => {
    await tx.selectFrom('articles').select('id').where('id', '=', id).forUpdate().execute();
    const response = await service.call(workspace.key, 'DELETE', path);
    expect([response.status, response.body]).toEqual([200, { ok: true }]);
    const left = service.db.selectFrom('events').select('id').where('workspace_id', '=', workspace.id);
    expect(await left.execute()).toEqual([]);
  });
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
  await deleteWorkspace(workspace.context);
  expect(await counts(workspace.id)).toEqual({ open: 0, logged: 0, events: 0 });
  expect(await counts(neighbour.id)).toEqual({ open: 40, logged: 40, events: 80 });
  const endpoint = () =>
    service.db
      .selectFrom('webhook_endpoints')
      .select(['deleted_at', 'secret'])
      .where('id', '=', ours.id)
      .execute();
  expect(await endpoint()).toEqual([{ deleted_at: expect.any(Date), secret: '' }]);
  await sql`UPDATE webhook_endpoints SET deleted_at = now() - interval '3 minutes' WHERE id = ${ours.id}`.execute(
    service.db,
  );
  expect(await emptyWorkspace(service.db, workspace.id, () => true)).toBe(true);
  expect(await endpoint()).toEqual([]);
  expect(
    await service.db.selectFrom('workspaces').select('id').where('id', '=', workspace.id).execute(),
  ).toEqual([]);
});
