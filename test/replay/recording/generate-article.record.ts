import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { JobId } from '../../../src/ids.ts';
import type { RunningWorker } from '../../../src/processes/worker.ts';
import { ProviderError } from '../../../src/providers/types.ts';
import { generationWorkflowId } from '../../../src/temporal/ids.ts';
import { controlSteps, STEPS, type StepControl } from '../../generation/support/steps.ts';
import { startWritingModel } from '../../generation/support/writing-model.ts';
import { createStandInWriter, generating } from '../../support/generating.ts';
import { startBeforeItsTurn } from '../../support/jobs.ts';
import { startProcess } from '../../support/processes.ts';
import { startTestService, type TestService, type TestWorkspace } from '../../support/service.ts';
import { connectOperator } from '../../support/temporal.ts';
import { hang } from '../../support/translating.ts';
import { eventually } from '../../support/wait.ts';
import { untilWaiting } from '../../translations/support/locks.ts';
import { recordHistory } from './history.ts';

let service: TestService;
let worker: RunningWorker;
let workspace: TestWorkspace;
let calls: ReturnType<typeof generating>;
let steps: StepControl;
const writers = createStandInWriter();
const record = (job: { id: string }, scenario: string) =>
  recordHistory(generationWorkflowId(job.id as JobId), `generateArticle/${scenario}`);
const named = (step: string) => step.toLowerCase().replaceAll('_', '-');

beforeAll(async () => {
  service = await startTestService({ UNBILLED_LIMIT_WORDS: '0' });
  calls = generating(service);
  workspace = await service.workspace(100_000);
  steps = await controlSteps(service.db);
  worker = await service.startWorker({ writers });
});
beforeEach(async () => {
  await steps.refuse(null);
  writers.behave = async () => undefined;
});
afterAll(() => service.stop());

const underWay = (id: string, status: string) =>
  eventually(
    () => calls.readJob(workspace, id),
    (job) => job.status === status,
  );

it('completed, with questions at the end, after a failure that passed', async () => {
  let failures = 1;
  writers.behave = async (what) => {
    if (what !== 'section') return;
    failures -= 1;
    if (failures >= 0) throw new ProviderError('retryable', 'busy');
  };
  await record((await calls.generate(workspace, { wordCount: 1_200, faq: true })).job, 'completed');
});

it('outline only, then resumed by its approval', async () => {
  const { article, job } = await calls.generateTo(workspace, { reviewOutline: true });
  await record(job, 'outline-only');
  const { etag } = await calls.outline(workspace, article.id);
  await record((await calls.approve(workspace, article.id, etag)).body.job, 'resumed');
});

it('the writer gives up on the outline, and on a section', async () => {
  for (const part of ['outline', 'section'] as const) {
    writers.behave = async (what) => {
      if (what === part) throw new ProviderError('fatal', 'No.');
    };
    await record((await calls.generate(workspace)).job, `no-usable-${part}`);
  }
});

it('completed without plan, edits and lead, since their steps fail', async () => {
  writers.behave = async (what) => {
    if (what === 'plan' || what === 'edits' || what === 'lead') throw new TypeError('not what it should be');
  };
  const { job } = await calls.generateTo(workspace);
  expect(job.status).toBe('COMPLETED');
  await record(job, 'completed-without-optional-parts');
});

it.each(STEPS)('failed in %s', async (step) => {
  await steps.refuse(step);
  await record((await calls.generate(workspace)).job, `failed-in-${named(step)}`);
});

it.each(STEPS)('cancelled in %s', async (step) => {
  let job: { id: string } | undefined;
  let cancelled: Promise<unknown> | undefined;
  await steps.hold(step, async () => {
    ({ job } = await calls.generate(workspace));
    await untilWaiting(service.db, 1);
    cancelled = calls.cancel(workspace, job.id);
    await untilWaiting(service.db, 2);
  });
  await cancelled;
  if (job !== undefined) await record(job, `cancelled-in-${named(step)}`);
});

it('cancelled while a model writes', async () => {
  writers.behave = (_, signal) => hang(signal);
  const { job } = await calls.generate(workspace);
  await underWay(job.id, 'OUTLINING');
  await calls.cancel(workspace, job.id);
  await record(job, 'cancelled-while-a-model-writes');
});

it('cancelled while it waits for its turn, and completed after waiting', async () => {
  writers.behave = (_, signal) => hang(signal);
  const before = [];
  for (let each = 0; each < 8; each += 1) before.push(await calls.generate(workspace));
  for (const { job } of before) await underWay(job.id, 'OUTLINING');
  const [waiting, cancelled] = [await calls.generate(workspace), await calls.generate(workspace)];
  const operator = await connectOperator();
  for (const { job } of [waiting, cancelled]) await startBeforeItsTurn(service, operator.client, job.id);
  await operator.close();
  await calls.cancel(workspace, cancelled.job.id);
  await record(cancelled.job, 'cancelled-while-waiting');
  writers.behave = async () => undefined;
  for (const { job } of before) await calls.cancel(workspace, job.id);
  await record(waiting.job, 'completed-after-waiting');
});

it('cancelled while queued', async () => {
  await worker.stop();
  const { job } = await calls.generate(workspace);
  await calls.cancel(workspace, job.id);
  worker = await service.startWorker({ writers });
  await record(job, 'cancelled-while-queued');
});

it('terminated by an operator', async () => {
  writers.behave = (_, signal) => hang(signal);
  const { job } = await calls.generate(workspace);
  await underWay(job.id, 'OUTLINING');
  const operator = await connectOperator();
  await operator.client.workflow
    .getHandle(generationWorkflowId(job.id as JobId))
    .terminate('stopped by hand');
  await operator.close();
  await record(job, 'terminated');
});

it('worker lost in mid-section', async () => {
  await worker.stop();
  const model = await startWritingModel();
  const env = { ...service.env, ...model.env };
  const lost = await startProcess('worker.ts', env);
  model.hangAfter(3);
  const { job } = await calls.generate(workspace, { wordCount: 1_200 });
  await eventually(
    async () => model.asked.length,
    (asked) => asked > 3,
  );
  lost.kill('SIGKILL');
  await lost.ended;
  worker = await service.startWorker({ writers });
  await record(job, 'worker-lost-in-mid-section');
  expect(await calls.readJob(workspace, job.id)).toMatchObject({ status: 'COMPLETED', consumedCredits: 2 });
  await model.close();
});
