import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { TemporalNames } from '../temporal/names.ts';
import type { TemporalClient } from '../temporal/runs.ts';

/**
 * Makes `reconcile` run every minute, and once now: what happened while no worker was there should not
 * wait. Several workers may call this at once.
 */
export async function ensureReconcileSchedule(client: TemporalClient, names: TemporalNames): Promise<void> {
  try {
    await client.schedule.create({
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
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule.getHandle(names.reconcileSchedule).trigger(ScheduleOverlapPolicy.SKIP);
  }
}
