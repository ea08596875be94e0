import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JobId } from '../../../src/ids.ts';
import type { Job } from '../../../src/jobs/schemas.ts';
import type { RunningWorker } from '../../../src/processes/worker.ts';
import { ProviderError } from '../../../src/providers/types.ts';
import { refreshWorkflowId } from '../../../src/temporal/ids.ts';
import { pseudoCompletion } from '../../support/chat-completions.ts';
import { silence, startEngineServer } from '../../support/engine-server.ts';
import { startBeforeItsTurn } from '../../support/jobs.ts';
import { startProcess } from '../../support/processes.ts';
import { startTestService, type TestService, type TestWorkspace } from '../../support/service.ts';
import { connectOperator } from '../../support/temporal.ts';
import { createStandIn, hang, translating } from '../../support/translating.ts';
import { eventually } from '../../support/wait.ts';
import { untilWaiting, whileLocked } from '../../translations/support/locks.ts';
import { recordHistory } from './history.ts';

let service: TestService;
let worker: RunningWorker;
let workspace: TestWorkspace;
let calls: ReturnType<typeof translating>;
const provider = createStandIn();

beforeAll(async () => {
  service = await startTestService();
  calls = translating(service);
  workspace = await service.workspace(100_000);
  worker = await service.startWorker({ provider });
});
afterAll(() => service.stop());

/** A version whose source has changed; until then the provider does as it should. */
async function outdated(words?: number) {
  provider.behave = async () => undefined;
  return calls.outdated(workspace, words);
}
const record = (job: Job, scenario: string) =>
  recordHistory(refreshWorkflowId(job.id as JobId), `refreshTranslation/${scenario}`);
const untilUnderWay = (job: Job) =>
  eventually(
    () => calls.readJob(workspace, job.id),
    ({ status }) => status === 'TRANSLATING',
  );
const ended = (job: Job, status: Job['status']) =>
  expect(calls.untilFinal(workspace, job.id)).resolves.toMatchObject({ status });

it('applied, in many batches', async () => {
  const { version } = await outdated(2_400);
  const job = await calls.refresh(workspace, version.id);
  await record(job, 'applied');
  await ended(job, 'COMPLETED');
});

it('applied, with nothing to translate', async () => {
  const { source, version } = await outdated(100);
  await calls.save(workspace, source.id, { version: 1, blocks: source.document.blocks.slice(0, 1) });
  const job = await calls.refresh(workspace, version.id);
  await record(job, 'applied-without-batches');
  await ended(job, 'COMPLETED');
});

it('proposed, after failures that passed', async () => {
  const { version } = await outdated();
  let failures = 2;
  provider.behave = async () => {
    failures -= 1;
    if (failures >= 0) throw new ProviderError('retryable', 'busy');
  };
  const job = await calls.refresh(workspace, version.id, { apply: 'none' });
  await record(job, 'proposed-after-retries');
  await ended(job, 'COMPLETED');
});

it('provider failure while other batches are under way', async () => {
  const { version } = await outdated(2_400);
  let asked = 0;
  provider.behave = async (signal) => {
    asked += 1;
    if (asked < 3) return hang(signal);
    throw new ProviderError('fatal', 'The engine does not know this language pair.');
  };
  const job = await calls.refresh(workspace, version.id);
  await record(job, 'provider-failure');
  await ended(job, 'FAILED');
});

it('cancelled in the middle', async () => {
  const { version } = await outdated(2_400);
  provider.behave = hang;
  const job = await calls.refresh(workspace, version.id);
  await untilUnderWay(job);
  await calls.cancel(workspace, job.id);
  await record(job, 'cancelled-in-the-middle');
});

it('cancelled while waiting for its turn', async () => {
  const { version } = await outdated(100);
  provider.behave = hang;
  const before = [];
  for (let each = 0; each < 8; each += 1) before.push((await calls.translate(workspace, 100)).job);
  for (const job of before) await untilUnderWay(job);
  const job = await calls.refresh(workspace, version.id);
  const operator = await connectOperator();
  await startBeforeItsTurn(service, operator.client, job.id);
  await eventually(
    () => operator.pendingActivity(refreshWorkflowId(job.id as JobId)).catch(() => ({})),
    (pending) => pending === undefined,
  );
  await operator.close();
  await calls.cancel(workspace, job.id);
  await record(job, 'cancelled-while-waiting');
  for (const each of before) await calls.cancel(workspace, each.id);
});

it('cancelled while queued', async () => {
  const { version } = await outdated(100);
  await worker.stop();
  const job = await calls.refresh(workspace, version.id);
  await calls.cancel(workspace, job.id);
  worker = await service.startWorker({ provider });
  await record(job, 'cancelled-while-queued');
});

it('cancelled against settle: the cancellation commits first, while the run is past its point of no return', async () => {
  const { version } = await outdated(100);
  const { promise: gate, resolve: go } = Promise.withResolvers<void>();
  provider.behave = () => gate;
  const job = await calls.refresh(workspace, version.id);
  await untilUnderWay(job);
  let cancelled: Promise<{ status: number }> | undefined;
  await whileLocked(service.db, version.id, async () => {
    cancelled = calls.cancel(workspace, job.id);
    await untilWaiting(service.db, 1);
    go();
    await untilWaiting(service.db, 2);
  });
  expect((await cancelled)?.status).toBe(202);
  await record(job, 'cancelled-against-settle');
  await ended(job, 'CANCELLED');
});

it('its article deleted in the middle', async () => {
  const { version } = await outdated(100);
  const { promise: gate, resolve: go } = Promise.withResolvers<void>();
  provider.behave = () => gate;
  const job = await calls.refresh(workspace, version.id);
  await untilUnderWay(job);
  await service.call(workspace.key, 'DELETE', `/api/articles/${version.id}`);
  go();
  await record(job, 'article-deleted');
});

it('terminated by an operator', async () => {
  const { version } = await outdated(100);
  provider.behave = hang;
  const job = await calls.refresh(workspace, version.id);
  await untilUnderWay(job);
  const operator = await connectOperator();
  await operator.client.workflow.getHandle(refreshWorkflowId(job.id as JobId)).terminate('stopped by hand');
  await operator.close();
  await record(job, 'terminated');
});

it('worker lost in the middle of its batches', async () => {
  const { version } = await outdated(4_000);
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
  const job = await calls.refresh(workspace, version.id);
  await eventually(
    async () => model.requests.length,
    (requests) => requests > 5,
  );
  lost.kill('SIGKILL');
  await lost.ended;
  worker = await service.startWorker({ provider });
  await record(job, 'worker-lost');
  await ended(job, 'COMPLETED');
  await model.close();
});
