import { expect, it } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import { createArticle } from '../support/articles.ts';
import { useTestService } from '../support/service.ts';

const service = useTestService();

it('an owner deletes the workspace, once no job is open in it; nobody else can, and nobody hears of it', async () => {
  const workspace = await service.workspace();
  const stranger = await service.workspace();
  const path = `/api/workspaces/${workspace.id}`;
  const projectId = await service.project(workspace);
  const article = await createArticle(service.db, workspace, projectId, { status: 'PUBLISHED' });
  const admin = await createApiKey(workspace.context, { label: 'admin', roleId: workspace.roles.admin });

  const refused = await service.call(admin.key, 'DELETE', path);
  expect([refused.status, refused.body.details]).toEqual([403, { permissions: ['workspaces.delete'] }]);
  expect((await service.call(stranger.key, 'DELETE', path)).status).toBe(404);

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
