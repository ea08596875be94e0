import { activityInfo, cancellationSignal, heartbeat, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { DeliveryId } from '../src/ids.ts';
import type { AttemptRecord, AttemptResult } from '../src/temporal/shapes.ts';
import { type AttemptDependencies, makeAttempt } from '../src/webhooks/attempts/attempt.ts';
import { attemptFailed, MAX_ATTEMPTS, waitAfter } from '../src/webhooks/attempts/schedule.ts';
import { beginAttempts } from '../src/webhooks/deliveries/begin.ts';
import { endInRun } from '../src/webhooks/deliveries/end.ts';
import { type DeliveryInRun, readInRun } from '../src/webhooks/deliveries/read-open.ts';
import { recordAttempts } from '../src/webhooks/deliveries/record.ts';
import { ENDPOINT_DISABLED } from '../src/webhooks/deliveries/states.ts';
import { asFinalFailure, retryWhileDatabaseIsAway } from './failures.ts';
import { whileBeating } from './heartbeat.ts';

const HEARTBEAT_MS = 5_000;

export interface WebhookActivityDependencies extends AttemptDependencies {
  /** The delivery as this process claimed it a moment ago; its first attempt then reads nothing. */
  readonly takeClaimed: (deliveryId: DeliveryId) => DeliveryInRun | undefined;
}

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

/** The steps of `deliverWebhook`. */
export function createWebhookActivities(dependencies: WebhookActivityDependencies) {
  const { db, sender, takeClaimed, onAttemptBegan, onAttemptEnded } = dependencies;

  async function stop(deliveryId: DeliveryId, reason: string): Promise<AttemptResult> {
    await retryWhileDatabaseIsAway(() => endInRun(db, deliveryId, reason));
    return { kind: 'stopped', reason };
  }

  async function attempt(deliveryId: DeliveryId, offset: number): Promise<AttemptResult> {
    const delivery =
      takeClaimed(deliveryId) ?? (await retryWhileDatabaseIsAway(() => readInRun(db, deliveryId)));
    if (delivery === undefined) return { kind: 'stopped', reason: 'delivery ended' };
    // Neither a reset nor a restart numbers backwards, and an attempt that a lost worker began stays spent.
    const scheduled = offset + activityInfo().attempt;
    const number = Math.max(delivery.attempts + 1, scheduled);
    if (number > MAX_ATTEMPTS) return stop(deliveryId, 'given up after six attempts');
    onAttemptBegan(number, delivery.createdAt);
    const request = { ...delivery, deliveryId, signal: cancellationSignal() };
    const made = await makeAttempt(sender, request, number, async (start) => {
      const [begun] = await retryWhileDatabaseIsAway(() => beginAttempts(db, { kind: 'run' }, [start]));
      return begun ?? { kind: 'superseded' };
    });
    if (made.kind === 'superseded') {
      // An execution that is lost, or what this process kept is old: the next attempt reads the row and numbers on.
      throw ApplicationFailure.create({
        type: 'AttemptSuperseded',
        message: `attempt ${number} has begun before`,
        category: 'BENIGN',
      });
    }
    if (made.kind === 'stopped') {
      return made.reason === ENDPOINT_DISABLED ? stop(deliveryId, made.reason) : made;
    }
    const { record } = made;
    onAttemptEnded(record.verdict, number);
    try {
      await recordAttempts(db, [{ ...record, deliveryId, endedAt: performance.now() }]);
    } catch (error) {
      // The wire has answered: asking again because of the database would send twice.
      log.warn('attempt not recorded yet', { error });
      // Temporal keeps what it is told for everybody to read: the receiver's own words are lost with the database.
      return { kind: 'unrecorded', outcome: { ...record, responseBody: null } };
    }
    if (record.verdict === 'succeeded') return { kind: 'recorded', number };
    // The policy's own wait belongs to the policy's own count; they part after an operator's reset.
    throw attemptFailed(record, number === scheduled ? undefined : waitAfter(number));
  }

  return {
    /**
     * One attempt of a delivery: dials, begins, signs, sends and records. Sends nothing for a delivery that has ended
     * or whose endpoint is gone or disabled.
     * @param offset attempts that were made before this run
     */
    attemptDelivery: (deliveryId: DeliveryId, offset: number): Promise<AttemptResult> =>
      whileBeating(HEARTBEAT_MS, heartbeat, () => attempt(deliveryId, offset)),

    /** Records an outcome that the attempt itself could not. One that cannot be recorded at all is in the log. */
    recordAttempt: async (deliveryId: DeliveryId, outcome: AttemptRecord): Promise<void> => {
      await asFinalFailure(() => recordAttempts(db, [{ ...outcome, deliveryId }])).catch((error: unknown) => {
        const { number, verdict, responseStatus } = outcome;
        log.warn('outcome not recorded', { deliveryId, number, verdict, responseStatus });
        throw error;
      });
    },

    /** Ends a delivery whose run stops without an outcome of its own. */
    endDelivery: (deliveryId: DeliveryId, reason: string): Promise<boolean> =>
      asFinalFailure(() => endInRun(db, deliveryId, reason)),
  };
}
