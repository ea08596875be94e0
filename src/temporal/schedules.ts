import { ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import { RECONCILED, type Reconciled, type TaskQueues } from './task-queues.ts';
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
 * Makes each part of reconcile run every minute, and once now, since what happened while no worker was there should
 * not wait; and `prune` every night. Several workers may call this at once.
 */
export async function ensureSchedules(client: TemporalClient, names: TaskQueues): Promise<void> {
  for (const part of RECONCILED) {
    if (await ensure(client, reconcileSchedule(names, part))) continue;
    await client.schedule.getHandle(names.reconcileSchedules[part]).trigger(ScheduleOverlapPolicy.SKIP);
  }
  await ensure(client, pruneSchedule(names));
}

/** Makes again what a Temporal that was restored empty has lost; what is there stays as it is. */
export async function restoreSchedules(client: TemporalClient, names: TaskQueues): Promise<void> {
  for (const part of RECONCILED) await create(client, reconcileSchedule(names, part));
  await create(client, pruneSchedule(names));
}

/** The workflow of each part, and what it says in the Temporal UI. */
const PARTS: Readonly<Record<Reconciled, readonly [workflowType: string, staticSummary: string]>> = {
  jobs: ['reconcileJobs', 'start or end jobs whose run is not there'],
  holds: ['reconcileHolds', 'end abandoned AI operations, release stranded holds'],
  deliveries: ['reconcileDeliveries', 'start, end or free deliveries whose run is not there'],
  deleted: ['emptyDeleted', 'remove the rows of deleted endpoints, projects and workspaces'],
};

const reconcileSchedule = (names: TaskQueues, part: Reconciled): ScheduleOptions => {
  const [workflowType, staticSummary] = PARTS[part];
  return {
    scheduleId: names.reconcileSchedules[part],
    spec: { intervals: [{ every: '1 minute' }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP },
    action: {
      type: 'startWorkflow',
      workflowType,
      workflowId: names.reconcileSchedules[part],
      taskQueue: names.maintenance,
      args: [],
      // A round over very many rows takes its time; the next one waits for it.
      workflowRunTimeout: '1 hour',
      staticSummary,
    },
    state: { triggerImmediately: true },
  };
};

const pruneSchedule = (names: TaskQueues): ScheduleOptions => ({
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
});
