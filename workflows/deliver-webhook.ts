import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  ContinueAsNew,
  continueAsNew,
  isCancellation,
  proxyActivities,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.ts';
import type { DeliverWebhookInput, DeliverWebhookResult } from '../src/temporal/shapes.ts';
import {
  attemptFailed,
  HELD_MS,
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

/**
 * Delivers one event to one endpoint: up to six attempts, then given up. Ends COMPLETED when delivered or when there
 * was nothing left to send, FAILED when given up, CANCELLED when an operator stopped it. While the workspace is deleted or
 * suspended, the endpoint is paused or its pace has it wait, or its secret cannot be read, it waits, however long.
 */
export async function deliverWebhook(input: DeliverWebhookInput): Promise<DeliverWebhookResult> {
  const { deliveryId } = input;
  try {
    for (let { offset } = input; ; ) {
      const result = await attemptFrom(offset)(deliveryId, offset);
      if (result.kind === 'stopped') return { outcome: 'stopped', reason: result.reason };
      if (result.kind === 'recorded') return { outcome: 'delivered', attempts: result.number };
      if (result.kind === 'held') {
        await sleep(result.waitMs ?? HELD_MS, { summary: 'held: nothing is sent to the endpoint now' });
        // Begins again, so that no history grows however long this lasts.
        return await continueAsNew<typeof deliverWebhook>({ deliveryId, offset: result.attempts });
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
    if (error instanceof ContinueAsNew) throw error;
    // Workers were lost each time, perhaps before they began: nothing of it counts, and the row says which attempt is next.
    if (isLost(error)) return await continueAsNew<typeof deliverWebhook>(input);
    const reason = endReason(error);
    if (reason !== null) {
      await CancellationScope.nonCancellable(() =>
        endDelivery.executeWithOptions({ summary: reason }, [deliveryId, reason]),
      );
    }
    throw error;
  }
}

/** Whether the policy of the attempts ended with a lost worker, or with an execution that another had overtaken. */
function isLost(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return (
    cause instanceof TimeoutFailure ||
    (cause instanceof ApplicationFailure && cause.type === 'AttemptSuperseded')
  );
}

/** The reason to record when the run ends; null when the last attempt has recorded it. */
function endReason(error: unknown): string | null {
  if (isCancellation(error)) return 'stopped by an operator';
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.type === 'DeliveryAttemptFailed') return null;
  return 'The last attempt was interrupted and its outcome is unknown.';
}
