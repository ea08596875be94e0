import {
  ActivityCancellationType,
  CancellationScope,
  isCancellation,
  proxyActivities,
} from '@temporalio/workflow';
import type { BurstActivities } from '../activities/bursts.ts';
import type { DeliverBurstInput, DeliverBurstResult } from '../src/temporal/shapes.ts';

/**
 * Retried until it succeeds: only its first execution sends, later ones free what the lost one held. A day, as for the
 * attempts of `deliverWebhook`, to outlast a database that is away.
 */
const { sendBurst } = proxyActivities<BurstActivities>({
  activityId: 'send-burst',
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

const { freeBurst } = proxyActivities<BurstActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds' },
});

/** Sends deliveries that are due, first attempts and later ones, for up to a minute. */
export async function deliverBurst({ burstId }: DeliverBurstInput): Promise<DeliverBurstResult> {
  try {
    return await sendBurst.executeWithOptions({ summary: 'deliveries that are due' }, [burstId]);
  } catch (error) {
    // A lost worker turns the cancellation into a timeout.
    if (isCancellation(error) || CancellationScope.current().consideredCancelled) {
      await CancellationScope.nonCancellable(() =>
        freeBurst.executeWithOptions({ summary: 'stopped by an operator' }, [burstId]),
      );
    }
    throw error;
  }
}
