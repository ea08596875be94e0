import { activityInfo, cancellationSignal, heartbeat, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Database } from '../src/db/database.ts';
import type { DeliveryId } from '../src/ids.ts';
import type { AttemptOutcome, AttemptResult } from '../src/temporal/shapes.ts';
import { toAttemptOutcome } from '../src/webhooks/attempts/outcome.ts';
import { ENDPOINT_DELETED, readDelivery, reasonToStop } from '../src/webhooks/attempts/read.ts';
import { endDelivery, recordAttempt } from '../src/webhooks/attempts/record.ts';
import { MAX_ATTEMPTS, waitAfter } from '../src/webhooks/attempts/schedule.ts';
import type { OutboxBell } from '../src/webhooks/outbox/bell.ts';
import type { WebhookSender } from '../src/webhooks/sending/sender.ts';
import { deliveryHeaders } from '../src/webhooks/sending/signature.ts';
import { asFinalFailure, retryWhileDatabaseIsAway } from './failures.ts';
import { whileBeating } from './heartbeat.ts';

const HEARTBEAT_MS = 5_000;

export interface WebhookActivityDependencies {
  readonly db: Database;
  readonly sender: WebhookSender;
  /** Rung after each attempt, so that the relay looks for the endpoint's next delivery at once. */
  readonly bell: OutboxBell;
  readonly onAttemptBegan: (number: number, createdAt: Date) => void;
  readonly onAttemptEnded: (verdict: AttemptOutcome['verdict'], number: number) => void;
}

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

/** The steps of `deliverWebhook`. */
export function createWebhookActivities(dependencies: WebhookActivityDependencies) {
  const { db, sender, bell, onAttemptBegan, onAttemptEnded } = dependencies;

  async function stop(deliveryId: DeliveryId, reason: string): Promise<AttemptResult> {
    await retryWhileDatabaseIsAway(() => endDelivery(db, deliveryId, reason));
    return { kind: 'stopped', reason };
  }

  async function attempt(deliveryId: DeliveryId, offset: number): Promise<AttemptResult> {
    const delivery = await retryWhileDatabaseIsAway(() => readDelivery(db, deliveryId));
    const reason = reasonToStop(delivery);
    if (delivery === undefined || reason !== null) return stop(deliveryId, reason ?? ENDPOINT_DELETED);
    // Neither a reset nor a restart numbers backwards, and an attempt that a lost worker began stays spent.
    const scheduled = offset + activityInfo().attempt;
    const number = Math.max(delivery.attempts + 1, scheduled);
    if (number > MAX_ATTEMPTS) return stop(deliveryId, 'given up after six attempts');

    const startedAt = new Date();
    onAttemptBegan(number, delivery.createdAt);
    const sent = await sender.send({
      url: delivery.url,
      headers: {},
      body: delivery.body,
      signal: cancellationSignal(),
      beforeWrite: async () => {
        const current = await retryWhileDatabaseIsAway(() => readDelivery(db, deliveryId));
        const reason = reasonToStop(current);
        if (current === undefined || reason !== null) {
          return { proceed: false, reason: reason ?? ENDPOINT_DELETED };
        }
        const { secret, eventType, body } = current;
        return {
          proceed: true,
          headers: deliveryHeaders({ secret, deliveryId, eventType, body, now: new Date() }),
        };
      },
    });
    if (sent.kind === 'stopped') return stop(deliveryId, sent.reason);

    const outcome = toAttemptOutcome(sent, number, startedAt);
    try {
      await recordAttempt(db, deliveryId, outcome);
    } catch (error) {
      // The wire has answered: asking again because of the database would send twice.
      log.warn('attempt not recorded yet', { error });
      // Temporal keeps what it is told for everybody to read: the receiver's own words are lost with the database.
      return { kind: 'unrecorded', outcome: { ...outcome, responseBody: null } };
    } finally {
      onAttemptEnded(outcome.verdict, number);
      bell.ring();
    }
    if (outcome.verdict === 'succeeded') return { kind: 'recorded', number };
    const isLast = outcome.verdict === 'failed' || number >= MAX_ATTEMPTS;
    throw ApplicationFailure.create({
      type: 'DeliveryAttemptFailed',
      message: `attempt ${number} of ${MAX_ATTEMPTS}: ${outcome.errorMessage ?? 'failed'}`,
      nonRetryable: isLast,
      category: 'BENIGN',
      // The policy's own wait belongs to the policy's own count; they part after an operator's reset.
      ...(isLast || number === scheduled ? {} : { nextRetryDelay: waitAfter(number) }),
    });
  }

  return {
    /**
     * One attempt of a delivery: reads it, dials, reads it again, signs, sends and records. Sends nothing
     * for a delivery that has ended or whose endpoint is gone or disabled.
     * @param offset attempts that earlier runs of the delivery have spent
     */
    attemptDelivery: (deliveryId: DeliveryId, offset: number): Promise<AttemptResult> =>
      whileBeating(HEARTBEAT_MS, heartbeat, () => attempt(deliveryId, offset)),

    /** Records an outcome that the attempt itself could not. One that cannot be recorded at all is in the log. */
    recordAttempt: (deliveryId: DeliveryId, outcome: AttemptOutcome): Promise<void> =>
      asFinalFailure(() => recordAttempt(db, deliveryId, outcome)).catch((error: unknown) => {
        const { number, verdict, responseStatus } = outcome;
        log.warn('outcome not recorded', { deliveryId, number, verdict, responseStatus });
        throw error;
      }),

    /** Ends a delivery whose run stops without an outcome of its own. */
    endDelivery: (deliveryId: DeliveryId, reason: string): Promise<boolean> =>
      asFinalFailure(() => endDelivery(db, deliveryId, reason)),
  };
}
