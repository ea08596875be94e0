import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, inject, it } from 'vitest';
import { taskQueues } from '../../../src/temporal/task-queues.ts';
import { startTestService, type TestService, WITH_SCHEDULES } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { recordHistory } from './history.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.startWorker(WITH_SCHEDULES);
});
afterAll(() => service.stop());

/** Triggers a schedule and records the run that it starts. */
async function recordScheduled(scheduleId: string, workflow: string): Promise<void> {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  const schedule = new Client({ connection }).schedule.getHandle(scheduleId);
  // The worker makes its schedules once it has started.
  await eventually(
    () => schedule.describe().catch(() => null),
    (description) => description !== null,
  );
  await schedule.trigger();
  const { info } = await eventually(
    () => schedule.describe(),
    (description) => description.info.recentActions.length > 0,
  );
  const action = info.recentActions[0]?.action;
  if (action?.type !== 'startWorkflow') throw new Error('no run was started');
  await recordHistory(action.workflow.workflowId, `${workflow}/nothing-to-do`);
  await connection.close();
}

const names = () => taskQueues(service.config.TEMPORAL_TASK_QUEUE_PREFIX);
it.each([
  ['jobs', 'reconcileJobs'],
  ['holds', 'reconcileHolds'],
  ['deliveries', 'reconcileDeliveries'],
  ['deleted', 'emptyDeleted'],
] as const)('reconcile of %s with nothing to do', (part, workflow) =>
  recordScheduled(names().reconcileSchedules[part], workflow),
);
it('prune with nothing to do', () => recordScheduled(names().pruneSchedule, 'prune'));
