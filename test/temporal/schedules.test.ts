import { expect, it } from 'vitest';
import { taskQueues } from '../../src/temporal/task-queues.ts';
import { useTestService } from '../support/service.ts';
import { connectOperator } from '../support/temporal.ts';
import { eventually } from '../support/wait.ts';

const service = useTestService();

it('schedules that Temporal has lost come back, and one that an operator paused stays paused', async () => {
  const operator = await connectOperator();
  const names = taskQueues(service.config.TEMPORAL_TASK_QUEUE_PREFIX);
  const [lost, paused] = [names.reconcileSchedules.holds, names.pruneSchedule].map((id) =>
    operator.client.schedule.getHandle(id),
  );
  if (lost === undefined || paused === undefined) throw new Error('no handles');
  const isThere = (schedule: typeof lost) =>
    schedule.describe().then(
      () => true,
      () => false,
    );
  await service.startWorker({ schedulesEveryMs: 200 });
  await eventually(() => isThere(paused), Boolean);
  await paused.pause('not tonight');
  await lost.delete();
  await eventually(() => isThere(lost), Boolean);
  // Rounds have passed by then.
  expect((await paused.describe()).state.paused).toBe(true);
  await operator.close();
});
