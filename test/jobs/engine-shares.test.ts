import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import { expect, it } from 'vitest';
import type { JobId } from '../../src/ids.ts';
import type { Job } from '../../src/jobs/schemas.ts';
import { createPseudoProvider } from '../../src/providers/pseudo.ts';
import {
  ProviderError,
  type TranslationProvider,
  type TranslationRequest,
} from '../../src/providers/types.ts';
import { translationWorkflowId } from '../../src/temporal/ids.ts';
import { useJobs } from '../support/jobs.ts';
import type { TestWorkspace } from '../support/service.ts';
import { hang, isFirst, translating } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const SLOTS = 3;
const pseudo = createPseudoProvider();
/** The workspaces of all calls, in the order in which they were made. */
let called: string[] = [];
let behave: (workspace: string, request: TranslationRequest) => Promise<void>;
const provider: TranslationProvider = {
  name: 'stand-in',
  async translate(request) {
    const workspace = activityInfo().priority?.fairnessKey ?? 'nobody';
    called.push(workspace);
    await behave(workspace, request);
    return pseudo.translate(request);
  },
};
const { service, operator } = useJobs(
  { provider },
  { env: { TRANSLATION_ACTIVITY_SLOTS: `${SLOTS}` } },
  async () => {
    called = [];
    behave = async () => undefined;
  },
);
const calls = translating(service);
const callsOf = ({ id }: TestWorkspace) => called.filter((workspace) => workspace === id).length;
const translateMany = (workspace: TestWorkspace, jobs: number) =>
  Promise.all(Array.from({ length: jobs }, () => calls.translate(workspace, 1_600)));
/** Until a call of a job's run waits for a slot, or the run has ended: what the run itself takes is not the queue's. */
const untilWaiting = (job: JobId) =>
  eventually(
    () => operator.client.workflow.getHandle(translationWorkflowId(job)).describe(),
    ({ status, raw }) =>
      status.name !== 'RUNNING' ||
      (raw.pendingActivities ?? []).some(({ lastStartedTime }) => !lastStartedTime),
  );
/**
 * Holds all calls but the first of each run of other workspaces than `one`, until its job is released. From then on each call
 * takes `milliseconds`, and others go on only while a call of that job waits.
 */
function holdBeside(one: TestWorkspace, milliseconds: number) {
  const gate = Promise.withResolvers<JobId>();
  let held = 0;
  behave = async (workspace, request) => {
    const isOther = workspace !== one.id;
    if (isOther && isFirst(request)) return;
    held += 1;
    const job = await Promise.race([gate.promise, hang(request.signal)]);
    if (isOther) await untilWaiting(job);
    await sleep(milliseconds, undefined, { signal: request.signal });
  };
  return { held: async () => held, release: (job: Job) => gate.resolve(job.id as JobId) };
}
/** The workspace of each job of these workspaces whose run translates. */
async function workspacesUnderWay(workspaces: readonly TestWorkspace[]) {
  const ids = workspaces.map(({ id }) => id);
  const jobs = service.db.selectFrom('jobs').select('workspace_id').where('workspace_id', 'in', ids);
  return (await jobs.where('status', '=', 'TRANSLATING').execute()).map(({ workspace_id }) => workspace_id);
}
const cancelAll = (workspace: TestWorkspace, jobs: Awaited<ReturnType<typeof translateMany>>) =>
  Promise.all(jobs.map(({ job }) => calls.cancel(workspace, job.id)));

// contract.md J17
it('a call does not wait for the calls that another workspace has queued before it', async () => {
  const [one, many] = [await service.workspace(100), await service.workspace(100)];
  const RUNS = 8;
  const { held, release } = holdBeside(one, 50);
  const jobs = await translateMany(many, RUNS);
  const underWay = () => workspacesUnderWay([one, many]);
  await eventually(underWay, ({ length }) => length === RUNS);
  // Each run waits with its title or four more calls.
  await eventually(held, (count) => count === SLOTS);
  const { job } = await calls.translate(one, 1_600);
  await eventually(underWay, ({ length }) => length === RUNS + 1);
  const queuedAt = called.length;
  release(job);
  expect((await calls.untilFinal(one, job.id)).status).toBe('COMPLETED');
  const last = called.lastIndexOf(one.id);
  const before = called.slice(queuedAt, last).filter((workspace) => workspace === many.id);
  expect(callsOf(one)).toBeGreaterThanOrEqual(5);
  // In the order of asking, those in the queue would have come first, 29 at most, and more before its last.
  expect(before.length).toBeLessThan(15);
  await cancelAll(many, jobs);
}, 60_000);

// contract.md J17
it('the four calls of a workspace with a single job come before the second call of each other workspace', async () => {
  const [one, ...others] = await Promise.all(Array.from({ length: 5 }, () => service.workspace(100)));
  if (one === undefined) throw new Error('no workspace');
  const { release } = holdBeside(one, 100);
  // Once the first has ended, all that is under way began while another was open.
  const jobs = await Promise.all(
    others.map(async (other) => {
      const first = await calls.translate(other, 1_600);
      const later = [await calls.translate(other, 1_600), await calls.translate(other, 1_600)];
      await calls.cancel(other, first.job.id);
      await calls.untilFinal(other, first.job.id);
      return later;
    }),
  );
  await eventually(
    () => workspacesUnderWay(others),
    (ids) => new Set(ids).size === others.length,
  );
  const { job } = await calls.translate(one, 1_600);
  await eventually(
    () => workspacesUnderWay([one]),
    ({ length }) => length === 1,
  );
  release(job);
  expect((await calls.untilFinal(one, job.id)).status).toBe('COMPLETED');
  // Its title, then four lanes in one round of the others.
  const [second, last] = [called.indexOf(one.id, called.indexOf(one.id) + 1), called.lastIndexOf(one.id)];
  const between = called.slice(second, last).filter((workspace) => workspace !== one.id);
  expect(callsOf(one)).toBeGreaterThanOrEqual(5);
  expect(between.length).toBeLessThanOrEqual(2 * others.length);
  await Promise.all(others.map((other, index) => cancelAll(other, jobs[index] ?? [])));
}, 60_000);

// contract.md J19 and J20
it('a workspace that the engine limits makes few calls, comes back by itself, and delays no other', async () => {
  const [one, limited] = [await service.workspace(100), await service.workspace(100)];
  let limits = true;
  behave = async (workspace) => {
    if (limits && workspace === limited.id) {
      throw new ProviderError('retryable', 'Too many.', { limited: true, retryAfterMs: 2_000 });
    }
  };
  const [first] = await translateMany(limited, 8);
  await eventually(
    async () => callsOf(limited),
    (count) => count > 0,
  );
  const startedAt = performance.now();
  const { job } = await calls.translate(one, 1_600);
  expect((await calls.untilFinal(one, job.id)).status).toBe('COMPLETED');
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  await sleep(2_000);
  // Without pauses its 32 calls would all have been made, some of them again.
  expect(callsOf(limited)).toBeLessThanOrEqual(4 * SLOTS);
  limits = false;
  expect((await calls.untilFinal(limited, first?.job.id ?? '')).status).toBe('COMPLETED');
}, 60_000);
