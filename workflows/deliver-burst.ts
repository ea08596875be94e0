import {
  ActivityCancellationType,
  CancellationScope,
  isCancellation,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { BurstActivities } from '../activities/bursts.ts';
import type { DeliverBurstInput, DeliverBurstResult } from '../src/temporal/shapes.ts';

/**
 * Repeated until it succeeds: only its first execution sends, every later one hands back what the lost one left.
 * A day, as for the attempts of `deliverWebhook`: what takes long is a database that is away.
 */
const { sendBurst } = proxyActivities<BurstActivities>({
  activityId: 'send-burst',
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

const { endBurst } = proxyActivities<BurstActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds' },
});

/**
 * Makes the first attempts of a backlog, some hundreds of deliveries at a time. What has to be tried again is in the
 * outbox when this ends, and gets a `deliverWebhook` run of its own.
 */
export async function deliverBurst({ burstId }: DeliverBurstInput): Promise<DeliverBurstResult> {
  const { runId, firstExecutionRunId } = workflowInfo();
  const mode = runId === firstExecutionRunId ? 'send' : 'hand back';
  try {
    return await sendBurst.executeWithOptions({ summary: 'first attempts of a backlog' }, [burstId, mode]);
  } catch (error) {
    // A worker that is lost meanwhile turns the cancellation into a timeout.
    if (isCancellation(error) || CancellationScope.current().consideredCancelled) {
      const reason = 'stopped by an operator';
      await CancellationScope.nonCancellable(() =>
        endBurst.executeWithOptions({ summary: reason }, [burstId, reason]),
      );
    }
    throw error;
  }
}
