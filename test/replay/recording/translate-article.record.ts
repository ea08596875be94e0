import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JobId } from '../../../src/ids.ts';
import type { RunningWorker } from '../../../src/processes/worker.ts';
import { ProviderError } from '../../../src/providers/types.ts';
import { translationWorkflowId } from '../../../src/temporal/ids.ts';
import { pseudoCompletion } from '../../support/chat-completions.ts';
import { silence, startEngineServer } from '../../support/engine-server.ts';
import { startBeforeItsTurn } from '../../support/jobs.ts';
import { startProcess } from '../../support/processes.ts';
import {
  startTestService,
  type TestService,
  type TestWorkspace,
  WITH_SCHEDULES,
} from '../../support/service.ts';
import { connectOperator, reconcileNow } from '../../support/temporal.ts';
import { createStandIn, hang, translating } from '../../support/translating.ts';
import { eventually } from '../../support/wait.ts';
import { untilWaiting, whileLocked } from '../../translations/support/locks.ts';
import { recordHistory } from './history.ts';

let service: TestService;
let worker: RunningWorker;
let workspace: TestWorkspace;
let calls: ReturnType<typeof translating>;
const provider = createStandIn();
const workflowId = (job: { id: string }) => translationWorkflowId(job.id as JobId);

beforeAll(async () => {
  service = await startTestService();
  calls = translating(service);
  workspace = await service.workspace(100_000);
  worker = await service.startWorker({ provider, ...WITH_SCHEDULES });
});
afterAll(() => service.stop());

it('success in many batches', async () => {
  const { job } = await calls.translate(workspace, 6000);
  await recordHistory(workflowId(job), 'translateArticle/success');
});

it('success in one batch, after failures that passed', async () => {
  let failures = 2;
  provider.behave = async () => {
    failures -= 1;
    if (failures >= 0) throw new ProviderError('retryable', 'busy');
  };
  const { job } = await calls.translate(workspace, 100);
  await recordHistory(workflowId(job), 'translateArticle/success-after-retries');
});

it('success after waiting for its turn, told when it was free', async () => {
  provider.behave = hang;
  const before = [];
  for (let each = 0; each < 8; each += 1) before.push(await calls.translate(workspace, 100));
  const isUnderWay = ({ status }: { status: string }) => status === 'TRANSLATING';
  for (const { job } of before) await eventually(() => calls.readJob(workspace, job.id), isUnderWay);
  const { job } = await calls.translate(workspace, 100);
  const cancelled = await calls.translate(workspace, 100);
  const operator = await connectOperator();
  for (const { id } of [job, cancelled.job]) await startBeforeItsTurn(service, operator.client, id);
  await operator.close();
  await sleep(1_500);
  await calls.cancel(workspace, cancelled.job.id);
  await recordHistory(workflowId(cancelled.job), 'translateArticle/cancelled-while-waiting');
  provider.behave = async () => undefined;
  for (const each of before) await calls.cancel(workspace, each.job.id);
  await recordHistory(workflowId(job), 'translateArticle/success-after-waiting');
});

it('provider failure while other batches are under way', async () => {
  let asked = 0;
  provider.behave = async (signal) => {
    asked += 1;
    if (asked < 3) return hang(signal);
    throw new ProviderError('fatal', 'The engine does not know this language pair.');
  };
  const { job } = await calls.translate(workspace, 2400);
  await recordHistory(workflowId(job), 'translateArticle/provider-failure');
});

it('cancelled in the middle', async () => {
  provider.behave = hang;
  const { job } = await calls.translate(workspace, 2400);
  await eventually(
    () => calls.readJob(workspace, job.id),
    (current) => current.status === 'TRANSLATING',
  );
  await calls.cancel(workspace, job.id);
  await recordHistory(workflowId(job), 'translateArticle/cancelled-in-the-middle');
});

it('cancelled while queued', async () => {
  provider.behave = async () => undefined;
  await worker.stop();
  const { job } = await calls.translate(workspace, 100);
  await calls.cancel(workspace, job.id);
  worker = await service.startWorker({ provider });
  await recordHistory(workflowId(job), 'translateArticle/cancelled-while-queued');
});

it('cancelled against settle: the cancellation commits first, while the run is past its point of no return', async () => {
  let go = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  provider.behave = () => gate;
  const { article, job } = await calls.translate(workspace, 100);
  await eventually(
    () => calls.readJob(workspace, job.id),
    (current) => current.status === 'TRANSLATING',
  );
  let cancelled: Promise<{ status: number }> | undefined;
  await whileLocked(service.db, article.id, async () => {
    cancelled = calls.cancel(workspace, job.id);
    await untilWaiting(service.db, 1);
    go();
    await untilWaiting(service.db, 2);
  });
  expect((await cancelled)?.status).toBe(202);
  await recordHistory(workflowId(job), 'translateArticle/cancelled-against-settle');
  expect(await calls.readJob(workspace, job.id)).toMatchObject({ status: 'CANCELLED', consumedCredits: 0 });
});

it('terminated by an operator; reconcile ends the job', async () => {
  provider.behave = hang;
  const { job } = await calls.translate(workspace, 2400);
  await eventually(
    () => calls.readJob(workspace, job.id),
    (current) => current.status === 'TRANSLATING',
  );
  const operator = await connectOperator();
  await operator.client.workflow.getHandle(workflowId(job)).terminate('stopped by hand');
  await recordHistory(workflowId(job), 'translateArticle/terminated');
  await reconcileNow(operator.client, service.config.TEMPORAL_TASK_QUEUE_PREFIX, 'jobs');
  await operator.close();
  expect(await calls.untilFinal(workspace, job.id)).toMatchObject({
    status: 'FAILED',
    errorMessage: 'The translation was stopped by an operator. Nothing was charged.',
  });
});

it('worker lost in the middle of its batches', async () => {
  await worker.stop();
  const model = await startEngineServer(pseudoCompletion);
  const env = {
    ...service.env,
    TRANSLATION_PROVIDER: 'openai-compatible',
    AI_BASE_URL: model.url,
    AI_MODEL: 'stand-in',
  };
  model.answer = (request) => (model.requests.length > 3 ? silence : pseudoCompletion(request));
  const lost = await startProcess('worker.ts', env);
  const { job } = await calls.translate(workspace, 4000);
  await eventually(
    async () => model.requests.length,
    (requests) => requests > 5,
  );
  lost.kill('SIGKILL');
  await lost.ended;
  provider.behave = async () => undefined;
  worker = await service.startWorker({ provider });
  await recordHistory(workflowId(job), 'translateArticle/worker-lost');
  expect(await calls.readJob(workspace, job.id)).toMatchObject({ status: 'COMPLETED', consumedCredits: 4 });
  await model.close();
});
