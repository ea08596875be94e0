import { patched, proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities } from '../activities/maintenance.ts';
import type { PruneResult } from '../src/temporal/shapes.ts';

const activities = proxyActivities<MaintenanceActivities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '10 seconds', backoffCoefficient: 2, maximumInterval: '5 minutes' },
});

/**
 * Removes what is older than the retention: ended deliveries, their events, what ended translations worked with, and
 * ended AI operations; and stored images that nothing names any more.
 */
export async function prune(): Promise<PruneResult> {
  const webhooks = await activities.pruneWebhooks.executeWithOptions(
    { summary: 'events and deliveries' },
    [],
  );
  const translations = await activities.pruneTranslations.executeWithOptions(
    { summary: 'snapshots and segments' },
    [],
  );
  // A run that was begun by an earlier release ends without this step.
  const operations = patched('ai-operations')
    ? await activities.pruneAiOperations.executeWithOptions({ summary: 'AI operations' }, [])
    : { aiOperations: 0 };
  const blobs = patched('blobs')
    ? await activities.pruneBlobs.executeWithOptions({ summary: 'stored images in nobody’s use' }, [])
    : { blobs: 0 };
  return { ...webhooks, ...translations, ...operations, ...blobs };
}
