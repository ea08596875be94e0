import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { JobId } from '../../src/ids.ts';
import type { Job } from '../../src/jobs/schemas.ts';
import { translationWorkflowId } from '../../src/temporal/ids.ts';
import { runState } from '../../src/temporal/workflow-client.ts';
import { createStandInWriter, generating } from '../support/generating.ts';
import { startBeforeItsTurn, useJobs } from '../support/jobs.ts';
import type { TestWorkspace } from '../support/service.ts';
import { createStandIn } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const provider = createStandIn();
const writers = createStandInWriter();
const { service, operator, reconcile } = useJobs(
  { provider, writers },
  { env: { TRANSLATION_ACTIVITY_SLOTS: '100' }, hasSchedules: true },
  async () => {
    provider.behave = async () => undefined;
    writers.behave = async () => undefined;
  },
);
const calls = generating(service);

/** Asks for so many translations at once, each of so many words. */
const translateMany = async (workspace: TestWorkspace, jobs: number, words: number): Promise<Job[]> =>
  (await Promise.all(Array.from({ length: jobs }, () => calls.translate(workspace, words)))).map(
    ({ job }) => job,
  );
const statusesOf = (workspace: TestWorkspace, jobs: readonly Job[]) =>
  Promise.all(jobs.map(({ id }) => calls.readJob(workspace, id).then(({ status }) => status)));
const cancelAll = (workspace: TestWorkspace, jobs: readonly Job[]) =>
  Promise.all(jobs.map(({ id }) => calls.cancel(workspace, id)));
const underWay = async (workspace: TestWorkspace): Promise<number> => {
  const { count } = await service.db
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number | string>().as('count'))
    .where('workspace_id', '=', workspace.id)
    .where('status', '!=', 'QUEUED')
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
};
const untilUnderWay = (workspace: TestWorkspace, jobs: number) =>
  eventually(
    () => underWay(workspace),
    (count) => count === jobs,
  );
/** Has the engine answer nothing until the gate is opened. */
function closeGate(): PromiseWithResolvers<void> {
  const gate = Promise.withResolvers<void>();
  provider.behave = () => gate.promise;
  return gate;
}
const untilAsleep = (jobId: string) => operator.untilAsleep(translationWorkflowId(jobId as JobId));

const translation = async (workspace: TestWorkspace) => (await calls.translate(workspace, 800)).job;
const generation = async (workspace: TestWorkspace) =>
  (await calls.generate(workspace, { wordCount: 300, imageCount: 0 })).job;

// contract.md J10
it.each([
  { mine: 'translation', theirs: 'translations', asks: [translation], others: [translation] },
  {
    mine: 'translation, and that of a third with its generation,',
    theirs: 'jobs of both kinds',
    asks: [translation, generation],
    others: [translation, generation],
  },
])(
  'the only job of a workspace passes the thirty of another, of which eight are under way at once: $mine beside $theirs',
  async ({ asks, others }) => {
    const many = await service.workspace(1_000);
    provider.behave = (signal) => sleep(400, undefined, { signal });
    writers.behave = (_, signal) => sleep(200, undefined, { signal });
    const jobs = await Promise.all(
      Array.from({ length: 30 }, (_, index) => (others[index % others.length] ?? translation)(many)),
    );
    let most = 0;
    const watching = new AbortController();
    const watched = (async () => {
      while (!watching.signal.aborted) {
        most = Math.max(most, await underWay(many));
        await sleep(20);
      }
    })();
    await untilUnderWay(many, 8);
    const only = asks.map(async (ask) => {
      const one = await service.workspace(1_000);
      return calls.untilFinal(one, (await ask(one)).id);
    });
    for (const { status } of await Promise.all(only)) expect(status).toBe('COMPLETED');
    watching.abort();
    await watched;
    expect(most).toBe(8);
    // In the order of asking, all thirty would have come before.
    const done = (await statusesOf(many, jobs)).filter((status) => status === 'COMPLETED');
    expect(done.length).toBeLessThan(20);
    await cancelAll(many, jobs);
  },
);

/** Whether Temporal knows a run of the job. */
const hasRun = async (jobId: string): Promise<boolean> =>
  (await runState(operator.client, translationWorkflowId(jobId as JobId))) !== 'unknown';

// contract.md J10
it('a queued job has no run until its turn can come, and begins at once when another ends, is cancelled or fails', async () => {
  const many = await service.workspace(1_000);
  const gate = closeGate();
  const first = await translateMany(many, 8, 100);
  await untilUnderWay(many, 8);
  const waiting: Job[] = [];
  for (let each = 0; each < 3; each += 1) waiting.push((await calls.translate(many, 100)).job);
  for (const { id } of waiting) expect(await hasRun(id)).toBe(false);
  await reconcile();
  for (const { id } of waiting) expect(await hasRun(id)).toBe(false);
  provider.behave = async () => undefined;
  await cancelAll(many, first.slice(0, 1));
  // Each that ends passes its turn on.
  for (const { id } of waiting) expect((await calls.untilFinal(many, id)).status).toBe('COMPLETED');
  gate.resolve();
}, 30_000);

// contract.md J10
it('a job whose turn was freed while nobody could pass it on is begun by the next round of reconcile', async () => {
  const many = await service.workspace(1_000);
  const gate = closeGate();
  const first = await translateMany(many, 8, 100);
  await untilUnderWay(many, 8);
  const { job } = await calls.translate(many, 100);
  // As if the process that ended it had been killed right after its commit.
  await service.db
    .updateTable('jobs')
    .set({ status: 'CANCELLED', ended_at: new Date() })
    .where('id', '=', first[0]?.id as JobId)
    .execute();
  expect(await hasRun(job.id)).toBe(false);
  await eventually(
    async () => {
      await reconcile();
      return hasRun(job.id);
    },
    (known) => known,
    60_000,
  );
  gate.resolve();
  expect((await calls.untilFinal(many, job.id)).status).toBe('COMPLETED');
}, 90_000);

// contract.md J10
it('a run that has to wait after all is signalled when a turn is free, however long it meant to wait', async () => {
  const many = await service.workspace(1_000);
  const gate = closeGate();
  const first = await translateMany(many, 8, 100);
  await untilUnderWay(many, 8);
  const { job } = await calls.translate(many, 100);
  await startBeforeItsTurn(service, operator.client, job.id);
  await untilAsleep(job.id);
  provider.behave = async () => undefined;
  await cancelAll(many, first.slice(0, 1));
  // It meant to sleep for ten seconds.
  await eventually(
    () => calls.readJob(many, job.id),
    ({ status }) => status !== 'QUEUED',
    5_000,
  );
  expect((await calls.untilFinal(many, job.id)).status).toBe('COMPLETED');
  gate.resolve();
}, 60_000);

it('a job that waits for its turn is cancelled at once, and never gets a run', async () => {
  const many = await service.workspace(1_000);
  const gate = closeGate();
  const jobs = await translateMany(many, 8, 100);
  await untilUnderWay(many, 8);
  const { job } = await calls.translate(many, 100);
  expect((await calls.cancel(many, job.id)).status).toBe(202);
  expect(await calls.readArticle(many, job.articleId)).toMatchObject({ status: 'DRAFT' });
  await cancelAll(many, jobs);
  expect(await calls.readWallet(many)).toMatchObject({ reserved: 0 });
  expect(await hasRun(job.id)).toBe(false);
  gate.resolve();
});
