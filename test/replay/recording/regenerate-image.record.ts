import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { JobId } from '../../../src/ids.ts';
import type { Job } from '../../../src/jobs/schemas.ts';
import type { RunningWorker } from '../../../src/processes/worker.ts';
import { ProviderError } from '../../../src/providers/types.ts';
import { imageWorkflowId } from '../../../src/temporal/ids.ts';
import { useDataFolder } from '../../support/data-folder.ts';
import { createStandInModel, drawing, picture } from '../../support/drawing.ts';
import { silence, startEngineServer } from '../../support/engine-server.ts';
import { startBeforeItsTurn } from '../../support/jobs.ts';
import { startProcess } from '../../support/processes.ts';
import { startTestService, type TestService, type TestWorkspace } from '../../support/service.ts';
import { connectOperator } from '../../support/temporal.ts';
import { hang } from '../../support/translating.ts';
import { eventually } from '../../support/wait.ts';
import { untilWaiting, whileLocked } from '../../translations/support/locks.ts';
import { recordHistory } from './history.ts';

let service: TestService;
let worker: RunningWorker;
let workspace: TestWorkspace;
let calls: ReturnType<typeof drawing>;
const model = createStandInModel();
const folder = useDataFolder();

beforeAll(async () => {
  service = await startTestService({ IMAGE_PROVIDER: 'pseudo', DATA_DIR: folder });
  calls = drawing(service);
  workspace = await service.workspace(100_000);
  worker = await service.startWorker({ imageModel: model });
});
afterAll(() => service.stop());
beforeEach(() => {
  model.behave = async () => undefined;
  model.requests.length = 0;
});

const record = (job: Job, scenario: string) =>
  recordHistory(imageWorkflowId(job.id as JobId), `regenerateImage/${scenario}`);
const ended = (job: Job, status: Job['status']) =>
  expect(calls.untilFinal(workspace, job.id)).resolves.toMatchObject({ status });
const untilDrawing = () =>
  eventually(
    async () => model.requests.length,
    (count) => count > 0,
  );
const drawsNothing = (): void => {
  model.behave = async ({ signal }) => {
    await hang(signal);
    return undefined;
  };
};
/** A job for an image in the body of an article. */
async function begin() {
  const { article, asset } = await calls.illustrated(workspace);
  return { article, asset, job: await calls.regenerate(workspace, asset) };
}

it('completed', async () => {
  const { job } = await begin();
  await record(job, 'completed');
  await ended(job, 'COMPLETED');
});

it('completed, after failures that passed', async () => {
  let failures = 2;
  model.behave = async () => {
    failures -= 1;
    if (failures >= 0) throw new ProviderError('retryable', 'busy');
    return undefined;
  };
  const { job } = await begin();
  await record(job, 'completed-after-retries');
  await ended(job, 'COMPLETED');
});

it('declined by the model', async () => {
  model.behave = () => Promise.reject(new ProviderError('refused', 'policy'));
  const { job } = await begin();
  await record(job, 'declined');
  await ended(job, 'FAILED');
});

it('bytes that are no image', async () => {
  model.behave = async () => Buffer.from('hello world');
  const { job } = await begin();
  await record(job, 'not-an-image');
  await ended(job, 'FAILED');
});

it('a model that sends no whole response, again and again', async () => {
  model.behave = () => Promise.reject(new ProviderError('retryable', 'cut off', { unanswered: true }));
  const { job } = await begin();
  await record(job, 'unanswered');
  await ended(job, 'FAILED');
});

it('cancelled while the model draws', async () => {
  drawsNothing();
  const { job } = await begin();
  await untilDrawing();
  await calls.cancel(workspace, job.id);
  await record(job, 'cancelled-while-drawing');
});

it('cancelled while waiting for its turn', async () => {
  drawsNothing();
  const before: Job[] = [];
  for (let each = 0; each < 8; each += 1) before.push((await begin()).job);
  await eventually(
    async () => model.requests.length,
    (count) => count === 8,
  );
  const { job } = await begin();
  const operator = await connectOperator();
  await startBeforeItsTurn(service, operator.client, job.id);
  await eventually(
    () => operator.pendingActivity(imageWorkflowId(job.id as JobId)).catch(() => ({})),
    (pending) => pending === undefined,
  );
  await operator.close();
  await calls.cancel(workspace, job.id);
  await record(job, 'cancelled-while-waiting');
  for (const each of before) await calls.cancel(workspace, each.id);
});

it('cancelled while queued', async () => {
  const { asset } = await calls.illustrated(workspace);
  await worker.stop();
  const job = await calls.regenerate(workspace, asset);
  await calls.cancel(workspace, job.id);
  worker = await service.startWorker({ imageModel: model });
  await record(job, 'cancelled-while-queued');
});

it('cancelled against settle: the cancellation commits first, while the run is past its point of no return', async () => {
  const { promise: gate, resolve: go } = Promise.withResolvers<undefined>();
  model.behave = () => gate;
  const { article, job } = await begin();
  await untilDrawing();
  let cancelled: Promise<{ status: number }> | undefined;
  await whileLocked(service.db, article.id, async () => {
    cancelled = calls.cancel(workspace, job.id);
    await untilWaiting(service.db, 1);
    go(undefined);
    await untilWaiting(service.db, 2);
  });
  expect((await cancelled)?.status).toBe(202);
  await record(job, 'cancelled-against-settle');
  await ended(job, 'CANCELLED');
});

it('the cover replaced meanwhile', async () => {
  const { article } = await calls.illustrated(workspace);
  const hero = `/api/articles/${article.id}/hero`;
  const upload = async (red: number) => {
    const response = await fetch(new URL(hero, service.url), {
      method: 'PUT',
      headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'image/png' },
      body: new Uint8Array(await picture(red)),
    });
    return (await response.json()) as { asset: { id: string; articleId: string } };
  };
  const { asset } = await upload(3);
  model.behave = async () => {
    await upload(4);
    return undefined;
  };
  const job = await calls.regenerate(workspace, asset);
  await record(job, 'image-replaced');
  await ended(job, 'FAILED');
});

it('its article deleted meanwhile', async () => {
  const { promise: gate, resolve: go } = Promise.withResolvers<undefined>();
  model.behave = () => gate;
  const { article, job } = await begin();
  await untilDrawing();
  await service.call(workspace.key, 'DELETE', `/api/articles/${article.id}`);
  go(undefined);
  await record(job, 'article-deleted');
});

it('refused at its turn, since the workspace has too much unpaid work', async () => {
  const strained = await service.workspace(100);
  const { asset } = await calls.illustrated(strained);
  await worker.stop();
  const job = await calls.regenerate(strained, asset);
  await service.db
    .insertInto('unpaid_work')
    .values({ job_id: job.id as JobId, workspace_id: strained.id, reason: 'failed', words: 100_001 })
    .execute();
  worker = await service.startWorker({ imageModel: model });
  await record(job, 'refused-at-its-turn');
  expect((await calls.untilFinal(strained, job.id)).status).toBe('FAILED');
});

it('terminated by an operator', async () => {
  drawsNothing();
  const { job } = await begin();
  await untilDrawing();
  const operator = await connectOperator();
  await operator.client.workflow.getHandle(imageWorkflowId(job.id as JobId)).terminate('stopped by hand');
  await operator.close();
  await record(job, 'terminated');
});

it('worker lost while the model draws', async () => {
  const { asset } = await calls.illustrated(workspace);
  await worker.stop();
  const server = await startEngineServer(() => silence);
  const lost = await startProcess('worker.ts', {
    ...service.env,
    IMAGE_PROVIDER: 'openai-compatible',
    IMAGE_BASE_URL: server.url,
    IMAGE_MODEL_STANDARD: 'stand-in',
  });
  const job = await calls.regenerate(workspace, asset);
  await eventually(
    async () => server.requests.length,
    (count) => count > 0,
  );
  lost.kill('SIGKILL');
  await lost.ended;
  worker = await service.startWorker({ imageModel: model });
  await record(job, 'worker-lost');
  await ended(job, 'COMPLETED');
  await server.close();
});
