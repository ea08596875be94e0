import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities } from '../activities/maintenance.ts';
import type { ReconcileResult } from '../src/temporal/shapes.ts';

const activities = proxyActivities<MaintenanceActivities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** Finds what was committed but never started, or was ended from outside, and starts or ends it. */
export async function reconcile(): Promise<ReconcileResult> {
  const jobs = await activities.reconcileJobs.executeWithOptions({ summary: 'open jobs' }, []);
  const holds = await activities.reconcileHolds.executeWithOptions({ summary: 'open holds' }, []);
  const deliveries = await activities.reconcileDeliveries.executeWithOptions(
    { summary: 'overdue deliveries' },
    [],
  );
  // Last, because it may take longest.
  await activities.emptyDeleted.executeWithOptions({ summary: 'deleted endpoints and workspaces' }, []);
  return {
    jobsStarted: jobs.started,
    jobsEnded: jobs.ended,
    holdsReleased: holds.released,
    deliveriesReturned: deliveries.returned,
    deliveriesEnded: deliveries.ended,
  };
}
