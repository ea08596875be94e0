import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  log,
  patched,
  proxyActivities,
} from '@temporalio/workflow';
import type { MaintenanceActivities } from '../activities/maintenance.ts';
import type { PruneResult } from '../src/temporal/shapes.ts';

/** Seven steps of at most three hours end before the next night. */
const activities = proxyActivities<MaintenanceActivities>({
  startToCloseTimeout: '1 hour',
  scheduleToCloseTimeout: '3 hours',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '10 seconds', backoffCoefficient: 2, maximumInterval: '5 minutes' },
});

/**
 * Removes what is older than the retention: ended deliveries, their events, the working data of ended translations,
 * ended AI operations, revisions and audit entries; and stored images without a reference. A failed step does not stop the others: the
 * run fails at its end and names it.
 */
export async function prune(): Promise<PruneResult> {
  const failed: string[] = [];
  async function step<Result>(summary: string, run: () => Promise<Result>, none: Result): Promise<Result> {
    try {
      return await run();
    } catch (error) {
      if (isCancellation(error) || CancellationScope.current().consideredCancelled) throw error;
      log.error('a step of prune failed', { step: summary, error });
      failed.push(summary);
      return none;
    }
  }
  // A run that was begun by an earlier release ends without these steps.
  const isPresent = patched('ai-operations');
  const { leadMs } = isPresent
    ? await activities.advancePruneClock.executeWithOptions({ summary: 'what time it is' }, [])
    : { leadMs: 0 };
  const webhooks = await step(
    'events and deliveries',
    () => activities.pruneWebhooks.executeWithOptions({ summary: 'events and deliveries' }, [leadMs]),
    { events: 0, deliveries: 0 },
  );
  const translations = await step(
    'working data of jobs, and memory',
    () =>
      activities.pruneJobsAndMemory.executeWithOptions({ summary: 'working data of jobs, and memory' }, [
        leadMs,
      ]),
    { jobs: 0, segments: 0 },
  );
  const operations = isPresent
    ? await step(
        'AI operations',
        () => activities.pruneAiOperations.executeWithOptions({ summary: 'AI operations' }, [leadMs]),
        { aiOperations: 0 },
      )
    : { aiOperations: 0 };
  const audit = isPresent
    ? await step(
        'audit entries',
        () => activities.pruneAuditEntries.executeWithOptions({ summary: 'audit entries' }, [leadMs]),
        { auditEntries: 0 },
      )
    : { auditEntries: 0 };
  const blobs = await step(
    'unused images',
    () => activities.pruneBlobs.executeWithOptions({ summary: 'unused images' }, [leadMs]),
    { blobs: 0 },
  );
  const revisions = await step(
    'revisions',
    () => activities.pruneRevisions.executeWithOptions({ summary: 'revisions' }, [leadMs]),
    { revisions: 0 },
  );
  if (failed.length > 0) {
    throw ApplicationFailure.nonRetryable(
      `Not everything was removed: ${failed.join(', ')}`,
      'PruneIncomplete',
    );
  }
  return { ...webhooks, ...translations, ...operations, ...audit, ...blobs, ...revisions };
}
