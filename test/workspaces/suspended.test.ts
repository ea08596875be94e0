import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { JobId } from '../../src/ids.ts';
import { readBacklog } from '../../src/metrics/backlog.ts';
import { deliveryWorkflowId, translationWorkflowId } from '../../src/temporal/ids.ts';
import { deleteWorkspace } from '../../src/workspaces/delete.ts';
import { restoreWorkspace, resumeWorkspace, suspendWorkspace } from '../../src/workspaces/life.ts';
import { editing, PNG } from '../articles/support.ts';
import { emit, readDeliveryRow, register, untilDelivery } from '../support/events.ts';
import { startReceiver } from '../support/receiver.ts';
import { WITH_SCHEDULES } from '../support/service.ts';
import { useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const { service, provider, operator, workspace, calls, reconcile } = useTranslations({ hasSchedules: true });

// contract.md L5 and L6
it('each request of a suspended workspace is 403, after 401 and 404; its images are served', async () => {
  const editor = editing(service, workspace);
  const article = await editor.create(await service.project(workspace));
  const { body } = await editor.upload('POST', `/api/articles/${article.id}/assets`, PNG);
  const image = async () => {
    const response = await fetch(new URL(body.asset.url, service.url));
    await response.body?.cancel();
    return response.status;
  };
  await suspendWorkspace(workspace.context);
  const refused = {
    status: 403,
    body: { code: 'FORBIDDEN', details: { reason: 'workspace_suspended' } },
  };
  for (const [method, path, sent] of [
    ['GET', '/api/whoami'],
    ['GET', `/api/articles/${article.id}`],
    ['PATCH', `/api/articles/${article.id}`, { title: 'x' }],
    ['POST', `/api/workspaces/${workspace.id}/api-keys`, {}],
  ] as const) {
    expect(await editor.call(method, path, sent)).toMatchObject(refused);
  }
  const stranger = await service.workspace();
  expect((await editor.call('GET', `/api/workspaces/${stranger.id}/projects`)).status).toBe(404);
  expect((await service.call(`${workspace.key}x`, 'GET', '/api/whoami')).status).toBe(401);
  expect(await image()).toBe(200);

  await deleteWorkspace(workspace.context);
  expect((await editor.call('GET', '/api/whoami')).status).toBe(401);
  expect(await image()).toBe(404);
  await restoreWorkspace(workspace.context);
  expect((await editor.call('GET', '/api/whoami')).status).toBe(403);
  await resumeWorkspace(workspace.context);
  expect((await editor.call('GET', '/api/whoami')).status).toBe(200);
  expect(await image()).toBe(200);
});

// contract.md L7
it('a job under way ends and is charged, a queued one waits until the workspace is resumed', async () => {
  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  let asked = 0;
  provider.behave = async () => {
    asked += 1;
    await held;
  };
  const running = await calls.translate(workspace, 300);
  await eventually(
    async () => asked,
    (count) => count > 0,
  );
  const jobOf = (id: string) =>
    service.db
      .selectFrom('jobs')
      .select(['status', 'consumed_credits'])
      .where('id', '=', id as JobId)
      .executeTakeFirstOrThrow();
  await suspendWorkspace(workspace.context);
  go();
  const ended = await eventually(
    () => jobOf(running.job.id),
    ({ status }) => status === 'COMPLETED',
  );
  expect(ended.consumed_credits).toBeGreaterThan(0);

  await resumeWorkspace(workspace.context);
  await service.stopWorkers();
  const queued = await calls.translate(workspace, 300);
  await suspendWorkspace(workspace.context);
  await service.startWorker({ provider, ...WITH_SCHEDULES });
  await operator.untilAsleep(translationWorkflowId(queued.job.id as JobId));
  expect(await jobOf(queued.job.id)).toMatchObject({ status: 'QUEUED' });
  await resumeWorkspace(workspace.context);
  // The end of any other job of the workspace passes its turn on.
  const next = await calls.translate(workspace, 300);
  await calls.untilFinal(workspace, next.job.id);
  expect(await calls.untilFinal(workspace, queued.job.id)).toMatchObject({ status: 'COMPLETED' });
});

// contract.md L8 and L9
it('deliveries of a suspended workspace wait, spend no attempt and alert nobody; what waited in a run goes on, too', async () => {
  const receiver = await startReceiver();
  receiver.answer = () => 503;
  await register(service, workspace, receiver.url);
  const [inRun] = await emit(service, workspace);
  const first = await untilDelivery(service, inRun ?? expect.fail(), ({ attempts }) => attempts === 1);
  expect(first.in_run).toBe(true);
  await suspendWorkspace(workspace.context);
  const [free] = await emit(service, workspace);
  const count = receiver.received.length;
  await sql`UPDATE webhook_open SET due_at = now() - interval '1 hour' WHERE workspace_id = ${workspace.id}`.execute(
    service.db,
  );
  const run = deliveryWorkflowId(inRun ?? expect.fail());
  await operator.hurry(run);
  await operator.untilAsleep(run);
  await reconcile();
  expect(receiver.received.length).toBe(count);
  const backlog = await readBacklog(service.db);
  expect(backlog.free.oldestAge).toBeLessThan(60);
  expect(backlog.inRuns.oldestOverdue).toBeLessThan(60);
  expect(await readDeliveryRow(service, inRun ?? expect.fail())).toMatchObject({ attempts: 1, in_run: true });

  receiver.answer = () => 204;
  await resumeWorkspace(workspace.context);
  await untilDelivery(service, free ?? expect.fail(), ({ status }) => status === 'succeeded');
  const last = await untilDelivery(
    service,
    inRun ?? expect.fail(),
    ({ status }) => status === 'succeeded',
    90_000,
  );
  expect(last.attempts).toBe(2);
  await receiver.close();
});

// contract.md L3
it('a job that was queued while its workspace was being deleted is ended, uncharged', async () => {
  provider.behave = (signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  const { job } = await calls.translate(workspace, 300);
  await sql`UPDATE workspaces SET deleted_at = now() WHERE id = ${workspace.id}`.execute(service.db);
  await reconcile();
  const ended = await eventually(
    () =>
      service.db
        .selectFrom('jobs')
        .select(['status', 'error_message', 'consumed_credits'])
        .where('id', '=', job.id as JobId)
        .executeTakeFirstOrThrow(),
    ({ status }) => status === 'FAILED',
  );
  expect(ended).toMatchObject({ error_message: expect.stringContaining('deleted'), consumed_credits: 0 });
  const wallet = service.db.selectFrom('wallets').select('reserved').where('workspace_id', '=', workspace.id);
  expect(await wallet.executeTakeFirst()).toEqual({ reserved: 0 });
});
