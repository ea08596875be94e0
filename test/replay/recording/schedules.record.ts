import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, inject, it } from 'vitest';
import { startTestService, type TestService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { recordHistory } from './history.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.startWorker();
});
afterAll(() => service.stop());

/** Triggers a schedule and records the run that it starts. */
async function recordScheduled(name: 'reconcile' | 'prune'): Promise<void> {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  const schedule = new Client({ connection }).schedule.getHandle(
    `${service.config.TEMPORAL_TASK_QUEUE_PREFIX}${name}`,
  );
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
  await recordHistory(action.workflow.workflowId, `${name}/nothing-to-do`);
  await connection.close();
}

it('reconcile with nothing to do', () => recordScheduled('reconcile'));
it('prune with nothing to do', () => recordScheduled('prune'));
