import { heartbeat } from '@temporalio/activity';
import { reconcileDeliveries } from '../src/reconcile/deliveries.ts';
import { type ReconcileDependencies, reconcileJobs, releaseStrandedHolds } from '../src/reconcile/jobs.ts';

export type MaintenanceActivities = ReturnType<typeof createMaintenanceActivities>;

/** The steps of `reconcile`. Each looks at rows that nobody has moved for a while, and leaves all others alone. */
export function createMaintenanceActivities(dependencies: Omit<ReconcileDependencies, 'onProgress'>) {
  const watched = { ...dependencies, onProgress: (looked: number) => heartbeat(looked) };
  return {
    reconcileJobs: (): Promise<{ started: number; ended: number }> => reconcileJobs(watched),
    reconcileHolds: async (): Promise<{ released: number }> => ({
      released: await releaseStrandedHolds(watched),
    }),
    reconcileDeliveries: (): Promise<{ returned: number; ended: number }> => reconcileDeliveries(watched),
  };
}
