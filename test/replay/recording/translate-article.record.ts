import { afterAll, beforeAll, it } from 'vitest';
import type { JobId } from '../../../src/ids.ts';
import { ProviderError } from '../../../src/providers/types.ts';
import { translationWorkflowId } from '../../../src/temporal/ids.ts';
import type { RunningWorker } from '../../../src/temporal/worker.ts';
import { startTestService, type TestService, type TestWorkspace } from '../../support/service.ts';
import { createStandIn, hang, translating } from '../../support/translating.ts';
import { eventually } from '../../support/wait.ts';
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
  worker = await service.startWorker({ provider });
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
