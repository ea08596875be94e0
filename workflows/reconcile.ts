import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities } from '../activities/maintenance.ts';
import type { ReconcileResult } from '../src/temporal/shapes.ts';

const activities = proxyActivities<MaintenanceActivities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/**
 * Walks over rows in steps of half a minute, each from where the one before it stopped.
 * @returns what all steps did, added up
 */
async function walk<Place, Counts>(
  what: string,
  step: {
    executeWithOptions(
      options: { summary: string },
      args: [from: Place | null],
    ): Promise<Counts & { last: Place | null }>;
  },
): Promise<Record<string, number>> {
  const total: Record<string, number> = {};
  for (let from: Place | null = null, number = 1; ; number += 1) {
    const summary: string = number === 1 ? what : `${what}, continued (${number})`;
    const done: Counts & { last: Place | null } = await step.executeWithOptions({ summary }, [from]);
    for (const [name, count] of Object.entries(done)) {
      if (typeof count === 'number') total[name] = (total[name] ?? 0) + count;
    }
    from = done.last;
    if (from === null) return total;
  }
}

/** Starts jobs whose run is not there, and ends those whose run was ended from outside. */
export const reconcileJobs = (): Promise<ReconcileResult> => walk('open jobs', activities.reconcileJobs);

/** Ends AI operations that no request waits for, and releases holds whose job or operation has ended. */
export async function reconcileHolds(): Promise<ReconcileResult> {
  const operations = await walk('open AI operations', activities.reconcileOperations);
  const holds = await walk('open holds', activities.reconcileHolds);
  return { ...operations, ...holds };
}

/** Starts, ends or frees deliveries whose run or burst is not there. */
export const reconcileDeliveries = (): Promise<ReconcileResult> =>
  walk('overdue deliveries', activities.reconcileDeliveries);

/** Removes the rows of deleted endpoints and workspaces, as many as half a minute each allows. */
export async function emptyDeleted(): Promise<void> {
  await activities.emptyDeletedEndpoints.executeWithOptions({ summary: 'deleted endpoints' }, []);
  await activities.emptyDeletedWorkspaces.executeWithOptions({ summary: 'deleted workspaces' }, []);
}
