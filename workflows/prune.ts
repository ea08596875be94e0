import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities } from '../activities/maintenance.ts';
import type { PruneResult } from '../src/temporal/shapes.ts';

const activities = proxyActivities<MaintenanceActivities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '10 seconds', backoffCoefficient: 2, maximumInterval: '5 minutes' },
});

/** Removes what is older than the retention: ended deliveries, their events, and what ended translations worked with. */
export async function prune(): Promise<PruneResult> {
  const webhooks = await activities.pruneWebhooks.executeWithOptions(
    { summary: 'events and deliveries' },
    [],
  );
  const translations = await activities.pruneTranslations.executeWithOptions(
    { summary: 'snapshots and segments' },
    [],
  );
  return { ...webhooks, ...translations };
}
