import { activityInfo, cancellationSignal, heartbeat, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { DeliveryId } from '../src/ids.ts';
import { pause } from '../src/pause.ts';
import type { AttemptRecord, AttemptResult } from '../src/temporal/shapes.ts';
import { type AttemptDependencies, makeAttempt } from '../src/webhooks/attempts/attempt.ts';
import { attemptFailed, MAX_ATTEMPTS, waitAfter } from '../src/webhooks/attempts/schedule.ts';
import { beginAttempts, takeBack } from '../src/webhooks/deliveries/begin.ts';
import { endInRun } from '../src/webhooks/deliveries/end.ts';
import { takeBackInRun } from '../src/webhooks/deliveries/lost.ts';
import { type DeliveryInRun, readInRun } from '../src/webhooks/deliveries/read-open.ts';
import { recordAttempts } from '../src/webhooks/deliveries/record.ts';
import { ENDPOINT_DISABLED, LOST_ALONE } from '../src/webhooks/deliveries/states.ts';
import { spendForRun } from '../src/webhooks/pace/spend-for-run.ts';
import { asFinalFailure, retryWhileDatabaseIsAway } from './failures.ts';
import { whileBeating } from './heartbeat.ts';

const HEARTBEAT_MS = 5_000;
/** How soon a run looks whether its delivery has been released after a loss; they don't all look at once. */
const parkedMs = () => Math.ceil(5_000 * (1 + Math.random()));

export interface WebhookActivityDependencies extends AttemptDependencies {
  /** The delivery as this process just claimed it; its first attempt then reads nothing. */
  readonly takeClaimed: (deliveryId: DeliveryId) => DeliveryInRun | undefined;
}

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

/** The activities of `deliverWebhook`. */
export function createWebhookActivities(dependencies: WebhookActivityDependencies) {
  const { db, paces, takeClaimed, onUnreadable, onAttemptBegan, onAttemptEnded } = dependencies;

  async function stop(deliveryId: DeliveryId, reason: string): Promise<AttemptResult> {
    await retryWhileDatabaseIsAway(() => endInRun(db, deliveryId, reason));
    return { kind: 'stopped', reason };
  }

  async function attempt(deliveryId: DeliveryId, offset: number): Promise<AttemptResult> {
    const delivery =
      takeClaimed(deliveryId) ?? (await retryWhileDatabaseIsAway(() => readInRun(db, deliveryId)));
    if (delivery === undefined) return { kind: 'stopped', reason: 'delivery ended' };
    const { attempts, lost = null } = delivery;
    const held = { kind: 'held', attempts } as const;
    if (lost !== null) {
      const isOpen = await retryWhileDatabaseIsAway(() => takeBackInRun(db, deliveryId, lost));
      if (!isOpen) return { kind: 'stopped', reason: LOST_ALONE };
    }
    if (lost !== null || delivery.parked === true) return { ...held, waitMs: parkedMs() };
    if (delivery.silenced === true) return held;
    // By the row, not by the execution: after a reset, a restart or a loss the two differ.
    const number = attempts + 1;
    const scheduled = offset + activityInfo().attempt;
    if (number > MAX_ATTEMPTS) return stop(deliveryId, 'given up after six attempts');
    let { paceEpoch } = delivery;
    if (paceEpoch > 0 && delivery.isPaid === undefined) {
      const { endpointId } = delivery;
      const place = await retryWhileDatabaseIsAway(() => spendForRun(db, endpointId));
      if (place.kind === 'none') return { ...held, waitMs: place.waitMs };
      await pause(place.waitMs, cancellationSignal());
      paceEpoch = place.epoch;
    }
    onAttemptBegan(number, delivery.createdAt);
    const request = { ...delivery, deliveryId, signal: cancellationSignal() };
    const made = await makeAttempt(dependencies, request, number, async (start) => {
      const [begun] = await retryWhileDatabaseIsAway(() => beginAttempts(db, { kind: 'run' }, [start]));
      return begun ?? { kind: 'superseded' };
    });
    if (made.kind === 'silenced') return held;
    if (made.kind === 'superseded') {
      // An execution was lost, or the claimed delivery is out of date: the next attempt reads the row and counts on.
      throw ApplicationFailure.create({
        type: 'AttemptSuperseded',
        message: `attempt ${number} has begun before`,
        category: 'BENIGN',
      });
    }
    if (made.kind === 'unreadable') {
      onUnreadable(delivery.endpointId, made.stored);
      await retryWhileDatabaseIsAway(() => takeBack(db, { kind: 'run' }, made.start));
      return held;
    }
    if (made.kind === 'stopped') {
      return made.reason === ENDPOINT_DISABLED ? stop(deliveryId, made.reason) : made;
    }
    const { record } = made;
    paces.attemptEnded({ endpointId: delivery.endpointId, paceEpoch }, made);
    onAttemptEnded({ ...record, endpointId: delivery.endpointId, workspaceId: delivery.workspaceId });
    try {
      await recordAttempts(db, [{ ...record, deliveryId, endedAt: performance.now() }]);
    } catch (error) {
      // The receiver has responded: another attempt because of the database would send twice.
      log.warn('attempt not recorded yet', { error });
      // Temporal's history is readable by operators: the receiver's response body is dropped.
      return { kind: 'unrecorded', outcome: { ...record, responseBody: null } };
    }
    if (record.verdict === 'succeeded') return { kind: 'recorded', number };
    // The policy's wait fits the policy's count; the two differ after an operator's reset.
    throw attemptFailed(record, number === scheduled ? undefined : waitAfter(number));
  }

  return {
    /**
     * One attempt of a delivery: dials, begins, signs, sends and records. Sends nothing for a delivery that has ended
     * or whose endpoint is deleted or disabled, and spends no attempt while the endpoint's secret can't be read.
     * @param offset attempts made before this run
     */
    attemptDelivery: (deliveryId: DeliveryId, offset: number): Promise<AttemptResult> =>
      whileBeating(HEARTBEAT_MS, heartbeat, () => attempt(deliveryId, offset)),

    /** Records an outcome that the attempt itself could not. One that can't be recorded at all is logged. */
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
