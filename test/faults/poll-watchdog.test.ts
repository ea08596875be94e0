import { expect, test } from 'vitest';
import type { Readiness } from '../../src/http/readiness.ts';
import { watchPolls } from '../../src/metrics/polls.ts';
import { readSdkMetrics } from '../../src/metrics/temporal.ts';
import { sdkMetricsUrl } from '../../src/temporal/runtime.ts';
import { taskQueues } from '../../src/temporal/task-queues.ts';
import { useTestService } from '../support/service.ts';
import { createStandIn, translating } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const service = useTestService();
const ALL_OK: Readiness = { ready: true, checks: { postgres: 'ok', temporal: 'ok' } };
const LIMITS = { free: 90_000, full: 1_500 };

test('a worker whose slots are held by work that does not end is reported, and no longer when it ends', async () => {
  const engine = createStandIn();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  engine.behave = () => held;
  const worker = await service.startWorker({ provider: engine }, { TRANSLATION_ACTIVITY_SLOTS: '1' });
  const { translation, jobSteps, engineCalls, webhooks, ai, maintenance } = taskQueues(
    service.config.TEMPORAL_TASK_QUEUE_PREFIX,
  );
  const unwell = watchPolls({
    workflowQueues: [translation, webhooks, ai, maintenance],
    activityQueues: [jobSteps, engineCalls, webhooks, ai, maintenance],
    read: () => readSdkMetrics(sdkMetricsUrl() ?? ''),
    readiness: async () => ALL_OK,
    limits: LIMITS,
  });
  expect(await unwell()).toBeNull();
  const calls = translating(service);
  const workspace = await service.workspace();
  const { job } = await calls.translate(workspace);
  const reason = await eventually(unwell, (found) => found !== null, 30_000);
  expect(reason).toMatch(new RegExp(`^${engineCalls} has not been polled for activities for \\d+ seconds$`));
  // Long before its own limit the process itself is not worth a new one.
  expect((await fetch(`${new URL(worker.metricsUrl).origin}/healthz`)).status).toBe(200);
  release();
  await eventually(unwell, (found) => found === null, 30_000);
  expect((await calls.untilFinal(workspace, job.id)).status).toBe('COMPLETED');
}, 90_000);

test('pollers that are stuck with free slots are reported, unless Temporal or the figures are away', async () => {
  let polls = 1;
  let answered = ALL_OK;
  let readable = true;
  const exposition = () =>
    ['Workflow', 'Activity']
      .flatMap((kind) => [
        `temporal_long_request_total{namespace="n",operation="Poll${kind}TaskQueue",task_queue="q"} ${polls}`,
        `temporal_worker_task_slots_available{namespace="n",task_queue="q",worker_type="${kind}Worker"} 3`,
      ])
      .join('\n');
  const unwell = watchPolls({
    workflowQueues: ['q'],
    activityQueues: ['q'],
    read: async () => (readable ? exposition() : ''),
    readiness: async () => answered,
    limits: { free: 200, full: 60_000 },
  });
  const untilTold = () => eventually(unwell, (found) => found !== null, 5_000);
  expect(await unwell()).toBeNull();
  expect(await untilTold()).toMatch(/^q has not been polled for workflow tasks/);
  polls += 1;
  expect(await unwell()).toBeNull();
  await untilTold();
  answered = { ready: false, checks: { postgres: 'ok', temporal: 'unavailable' } };
  expect(await unwell()).toBeNull();
  answered = ALL_OK;
  expect(await unwell()).toBeNull();
  await untilTold();
  readable = false;
  expect(await unwell()).toBeNull();
});
