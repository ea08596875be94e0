import { expect, it } from 'vitest';
import { type ArticleId, type JobId, newId } from '../../src/ids.ts';
import { freeStrandedArticles } from '../../src/jobs/end.ts';
import { reconcileJobs } from '../../src/reconcile/jobs.ts';
import { translationWorkflowId } from '../../src/temporal/ids.ts';
import { taskQueues } from '../../src/temporal/task-queues.ts';
import { translationArea } from '../../src/translations/area.ts';
import { editing } from '../articles/support.ts';
import { hang, useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';
import { untilWaiting } from '../translations/support/locks.ts';

const { service, provider, operator, workspace, calls, reconcile } = useTranslations({ hasSchedules: true });

const untouched = { balance: 10, reserved: 0, available: 10 };

it('a run that an operator terminates ends its job FAILED, releases its hold and is not started again', async () => {
  let asked = 0;
  provider.behave = (signal) => {
    asked += 1;
    return hang(signal);
  };
  const { article, job } = await calls.translate(workspace, 300);
  await eventually(
    async () => asked,
    (count) => count > 0,
  );
  const run = operator.client.workflow.getHandle(translationWorkflowId(job.id as JobId));
  await run.terminate('enough');
  expect(await calls.readWallet(workspace)).toMatchObject({ reserved: 1 });
  await reconcile();
  const ended = await calls.untilFinal(workspace, job.id);
  expect(ended).toMatchObject({ status: 'FAILED', errorCode: 'TRANSLATION_FAILED', consumedCredits: 0 });
  expect(ended.errorMessage).toMatch(/operator/);
  expect(await calls.readWallet(workspace)).toEqual(untouched);
  expect(await calls.readArticle(workspace, article.id)).toMatchObject({ status: 'DRAFT', wordCount: 0 });
  expect((await run.describe()).status.name).toBe('TERMINATED');
});

it('a run that an operator cancels ends its job CANCELLED by itself', async () => {
  let asked = 0;
  provider.behave = (signal) => {
    asked += 1;
    return hang(signal);
  };
  const { job } = await calls.translate(workspace, 300);
  await eventually(
    async () => asked,
    (count) => count > 0,
  );
  await operator.client.workflow.getHandle(translationWorkflowId(job.id as JobId)).cancel();
  expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'CANCELLED', errorCode: null });
  expect(await operator.closed(translationWorkflowId(job.id as JobId))).toBe('CANCELLED');
  expect(await calls.readWallet(workspace)).toEqual(untouched);
});

it('an open hold whose job has ended, as a restored backup may hold one, is released once', async () => {
  const { job } = await calls.translate(workspace, 300);
  await calls.untilFinal(workspace, job.id);
  await service.db.transaction().execute(async (tx) => {
    await tx
      .updateTable('holds')
      .set({ status: 'open', settled_amount: null, ended_at: null })
      .where('run_id', '=', job.id)
      .execute();
    await tx.updateTable('wallets').set({ reserved: 1 }).where('workspace_id', '=', workspace.id).execute();
  });
  await reconcile();
  await eventually(
    () => calls.readWallet(workspace),
    (wallet) => wallet.reserved === 0,
  );
  await reconcile();
  expect(await calls.readWallet(workspace)).toEqual({ balance: 9, reserved: 0, available: 9 });
});

it('the run of a job is started, found and stopped under the id that its row has', async () => {
  await service.stopWorkers();
  const editor = editing(service, workspace);
  const article = await editor.create(await service.project(workspace));
  const jobId = await editor.openJob(article, 'translate');
  await service.db
    .insertInto('translations')
    .values({ job_id: jobId, workspace_id: workspace.id, source_language: 'en', target_language: 'es' })
    .execute();
  // One of a purpose that this round does not start, as a release that did not know it.
  const later = await editor.openJob(await editor.create(await service.project(workspace)), 'generate');
  const round = () =>
    reconcileJobs(
      {
        db: service.db,
        client: operator.client,
        names: taskQueues(service.config.TEMPORAL_TASK_QUEUE_PREFIX),
        areas: { translate: translationArea },
        engineSlots: 100,
        minimumAgeMs: 0,
        onError: (id, error) => expect.unreachable(`${id}: ${error}`),
      },
      { from: null, until: Number.POSITIVE_INFINITY, onPlace: () => undefined },
    );
  expect(await round()).toEqual({ started: 1, ended: 0, last: null });
  expect(await round()).toEqual({ started: 0, ended: 0, last: null });
  const run = operator.client.workflow.getHandle(`test-${jobId}`);
  expect((await run.describe()).status.name).toBe('RUNNING');
  expect((await calls.cancel(workspace, jobId)).status).toBe(202);
  const asked = (await run.fetchHistory()).events?.some(
    (event) => event.workflowExecutionCancelRequestedEventAttributes,
  );
  expect(asked).toBe(true);
  expect(await calls.readJob(workspace, later)).toMatchObject({ status: 'QUEUED' });
  await service.startWorker({ provider });
});

/** The worker's own reconcile may free an article first. */
const free = () => freeStrandedArticles(service.db, (part, error) => expect.unreachable(`${part}: ${error}`));

it('an article is freed whatever a refresh of it does', async () => {
  const editor = editing(service, workspace);
  const projectId = await service.project(workspace);
  for (const ends of [true, false]) {
    const article = await editor.create(projectId);
    await calls.cancel(workspace, await editor.openJob(article, 'translate'));
    const refresh = await editor.openJob(article, 'refresh');
    if (ends) await calls.cancel(workspace, refresh);
    await editor.setStatus(article.id, 'PROCESSING');
    await free();
    expect(await editor.read(article.id)).toMatchObject({ status: 'DRAFT' });
  }
});

it('an article is freed only when no open job owns it, also when one comes at that very moment', async () => {
  const editor = editing(service, workspace);
  const projectId = await service.project(workspace);
  const [stranded, working, raced] = await Promise.all([1, 2, 3].map(() => editor.create(projectId)));
  if (!stranded || !working || !raced) throw new Error('not created');
  for (const { id } of [stranded, working, raced]) await editor.setStatus(id, 'PROCESSING');
  await calls.cancel(workspace, await editor.openJob(stranded));
  await editor.openJob(working);
  const ended = await editor.openJob(raced);
  await editor.setStatus(stranded.id, 'PROCESSING');
  const again = newId<JobId>();
  let freeing: Promise<unknown> | undefined;
  await service.db.transaction().execute(async (tx) => {
    await tx
      .selectFrom('articles')
      .select('id')
      .where('id', '=', raced.id as ArticleId)
      .forUpdate()
      .execute();
    // Only now, or the worker's reconcile could free the article before it is locked.
    await service.db
      .updateTable('jobs')
      .set({ status: 'CANCELLED', ended_at: new Date() })
      .where('id', '=', ended as JobId)
      .execute();
    freeing = free();
    await untilWaiting(service.db, 1);
    await tx
      .insertInto('jobs')
      .values({
        id: again,
        workspace_id: workspace.id,
        project_id: projectId,
        article_id: raced.id as ArticleId,
        kind: 'generation',
        purpose: 'generate',
        status: 'QUEUED',
        idempotency_key: again,
        estimated_credits: 0,
        reserved_credits: 0,
        workflow_id: again,
      })
      .execute();
  });
  await freeing;
  const statuses = await Promise.all([stranded, working, raced].map(({ id }) => editor.read(id)));
  expect(statuses.map(({ status }) => status)).toEqual(['DRAFT', 'PROCESSING', 'PROCESSING']);
});
