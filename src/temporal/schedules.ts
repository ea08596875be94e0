import { ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import type { TaskQueues } from './task-queues.ts';
import type { TemporalClient } from './workflow-client.ts';

const DEADLINE_MS = 10_000;

/** @returns false when it was there */
async function create(client: TemporalClient, options: ScheduleOptions): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + DEADLINE_MS, () => client.schedule.create(options));
    return true;
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    return false;
  }
}

/** Creates a schedule, or brings the one that is there up to date. @returns false when it was there */
async function ensure(client: TemporalClient, options: ScheduleOptions): Promise<boolean> {
  if (await create(client, options)) return true;
  const { scheduleId, state: _, memo: __, ...current } = options;
  await client.withDeadline(Date.now() + DEADLINE_MS, () =>
    // What an operator paused stays paused.
    client.schedule.getHandle(scheduleId).update(({ state }) => ({ ...current, state })),
  );
  return false;
}

/**
 * Makes `reconcile` run every minute, and once now, since what happened while no worker was there should
 * not wait; and `prune` every night. Several workers may call this at once.
 */
export async function ensureSchedules(client: TemporalClient, names: TaskQueues): Promise<void> {
  const [reconcile, prune] = schedulesOf(names);
  if (!(await ensure(client, reconcile))) {
    await client.schedule.getHandle(names.reconcileSchedule).trigger(ScheduleOverlapPolicy.SKIP);
  }
  await ensure(client, prune);
}

/** Makes again what a Temporal that was restored empty has lost; what is there stays as it is. */
export async function restoreSchedules(client: TemporalClient, names: TaskQueues): Promise<void> {
  for (const schedule of schedulesOf(names)) await create(client, schedule);
}

const schedulesOf = (names: TaskQueues) =>
  [
    {
      scheduleId: names.reconcileSchedule,
      spec: { intervals: [{ every: '1 minute' }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP },
      action: {
        type: 'startWorkflow',
        workflowType: 'reconcile',
        workflowId: names.reconcileSchedule,
        taskQueue: names.maintenance,
        args: [],
        workflowRunTimeout: '10 minutes',
        staticSummary: 'find what was not started, or was ended from outside',
      },
      state: { triggerImmediately: true },
    },
    {
      scheduleId: names.pruneSchedule,
      spec: { calendars: [{ hour: 3, minute: 17 }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP },
      action: {
        type: 'startWorkflow',
        workflowType: 'prune',
        workflowId: names.pruneSchedule,
        taskQueue: names.maintenance,
        args: [],
        // The next night finds no run of this one in its way.
        workflowRunTimeout: '23 hours',
        staticSummary: 'remove what is older than the retention',
      },
    },
  ] as const satisfies readonly ScheduleOptions[];
