import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  sleep,
} from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.ts';
import type { DeliverWebhookInput, DeliverWebhookResult } from '../src/temporal/shapes.ts';
import {
  attemptFailed,
  LONGEST_WAIT_MS,
  MAX_ATTEMPTS,
  waitAfter,
} from '../src/webhooks/attempts/schedule.ts';

/** Records of what has happened, retried until the database takes them. */
const { recordAttempt, endDelivery } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/**
 * Attempts after `offset`. The retry policy is the schedule (contract.md D8). The sender has its own limit of 15
 * seconds; a day here means that a database that is away costs no attempt.
 */
const attemptFrom = (offset: number) =>
  proxyActivities<WebhookActivities>({
    activityId: `deliver-from-${offset + 1}`,
    summary: offset === 0 ? 'deliver' : `deliver, from attempt ${offset + 1}`,
    startToCloseTimeout: '1 day',
    heartbeatTimeout: '20 seconds',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: {
      initialInterval: waitAfter(offset + 1),
      backoffCoefficient: 2,
      maximumInterval: LONGEST_WAIT_MS,
      maximumAttempts: MAX_ATTEMPTS - offset,
    },
  }).attemptDelivery;

/** The waits of a delivery whose secret can't be read double from a minute to half an hour. */
const FIRST_HOLD_MS = 60_000;
const LONGEST_HOLD_MS = 1_800_000;

/**
 * Delivers one event to one endpoint: up to six attempts, then given up. Ends COMPLETED when delivered or when there
 * was nothing left to send, FAILED when given up, CANCELLED when an operator stopped it.
 */
export async function deliverWebhook(input: DeliverWebhookInput): Promise<DeliverWebhookResult> {
  const { deliveryId } = input;
  try {
    for (let { offset } = input, hold = FIRST_HOLD_MS; ; ) {
      const result = await attemptFrom(offset)(deliveryId, offset);
      if (result.kind === 'stopped') return { outcome: 'stopped', reason: result.reason };
      if (result.kind === 'recorded') return { outcome: 'delivered', attempts: result.number };
      if (result.kind === 'held') {
        offset = result.attempts;
        await sleep(hold, { summary: "held: the endpoint's secret cannot be read" });
        hold = Math.min(2 * hold, LONGEST_HOLD_MS);
        continue;
      }
      const { outcome } = result;
      const endedAt = Date.parse(outcome.startedAt) + outcome.durationMs;
      // A received response is recorded even when an operator cancels meanwhile.
      await CancellationScope.nonCancellable(() =>
        recordAttempt.executeWithOptions({ summary: `record attempt ${outcome.number}` }, [
          deliveryId,
          outcome,
        ]),
      );
      if (outcome.verdict === 'succeeded') return { outcome: 'delivered', attempts: outcome.number };
      if (outcome.verdict === 'failed' || outcome.number >= MAX_ATTEMPTS) throw attemptFailed(outcome);
      offset = outcome.number;
      await sleep(Math.max(endedAt + waitAfter(offset) - Date.now(), 1), {
        summary: `wait for attempt ${offset + 1}`,
      });
    }
  } catch (error) {
    const reason = endReason(error);
    if (reason !== null) {
      await CancellationScope.nonCancellable(() =>
        endDelivery.executeWithOptions({ summary: reason }, [deliveryId, reason]),
      );
    }
    throw error;
  }
}

/** The reason to record when the run ends; null when the last attempt has recorded it. */
function endReason(error: unknown): string | null {
  if (isCancellation(error)) return 'stopped by an operator';
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.type === 'DeliveryAttemptFailed') return null;
  return 'The last attempt was interrupted and its outcome is unknown.';
}
