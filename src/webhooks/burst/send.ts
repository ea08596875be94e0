import { setTimeout as sleep } from 'node:timers/promises';
import type { AttemptOutcome, DeliverBurstResult } from '../../temporal/shapes.ts';
import { toAttemptOutcome } from '../attempts/outcome.ts';
import { ENDPOINT_DISABLED } from '../attempts/read.ts';
import { endDeliveries, endDelivery } from '../attempts/record.ts';
import type { OutboxBell } from '../outbox/bell.ts';
import { BURST_SIZE, OPEN_IN_A_BURST } from '../outbox/limits.ts';
import type { WebhookSender } from '../sending/sender.ts';
import { deliveryHeaders } from '../sending/signature.ts';
import { type BurstDelivery, claimBurst } from './claim.ts';
import { handBack } from './hand-back.ts';
import { createLanes } from './lanes.ts';
import { type BurstStatementOptions, createBurstStatements } from './statements.ts';

/** Deliveries of one claim. */
const CLAIM_SIZE = 200;
/** How long a burst claims at most, and goes on waiting for new deliveries. */
const CLAIMING_MS = 5_000;
const IDLE_MS = 200;
/** Fewer than these in this time can each have a run of their own again. */
const FEW = 20;
const FEW_MS = 1_000;
/** The last attempt is started by then, so that it has ended while it still counts as open. */
const STARTING_MS = 14_000;
const LOOK_MS = 50;
/** Deliveries that wait in a burst for a place at their receivers. */
const MOST_WAITING = 400;
/** Between claims of a few: what is stored meanwhile is one claim. */
const CLAIM_PAUSE_MS = 5;

/** The result of a burst that has ended nothing yet. */
export const NOTHING_SENT = { succeeded: 0, toRetry: 0, failed: 0, stopped: 0, handedBack: 0 };

/** `cancelled` gives up at once, attempts in flight included. */
export interface BurstOptions extends BurstStatementOptions {
  readonly sender: WebhookSender;
  readonly bell: OutboxBell;
  /** Takes nothing more, and lets attempts in flight end. */
  readonly stopping: AbortSignal;
  readonly onAttemptBegan: (number: number, createdAt: Date) => void;
  readonly onAttemptEnded: (verdict: AttemptOutcome['verdict'], number: number) => void;
  readonly onProgress: (result: DeliverBurstResult) => void;
  /** Called when the burst takes nothing more out of the outbox: because it is full, or because little came. */
  readonly onClaimed: (notice: 'claimed' | 'lull') => Promise<void>;
  readonly onError: (error: unknown, delivery: BurstDelivery) => void;
}

/**
 * Sends first attempts straight from the outbox, some hundreds of them, while there are any to claim. Guard,
 * signature, the look at the row right before the request, and what is recorded are those of every attempt; only
 * the statements are shared between deliveries. Returns when each delivery is recorded or handed back.
 * @throws the reason of `cancelled`
 */
export async function sendBurst(options: BurstOptions): Promise<DeliverBurstResult> {
  const { db, sender, burstId, cancelled, stopping, retryWhileDatabaseIsAway } = options;
  const result = { ...NOTHING_SENT };
  const { begin, record } = createBurstStatements(options);
  const recordings = new Set<Promise<void>>();
  const startedAt = performance.now();
  const isEnding = () => stopping.aborted || cancelled.aborted;
  let wanted = true;
  let goOn: () => void = () => undefined;
  const look = () => {
    wanted = true;
    goOn();
  };

  async function attempt(delivery: BurstDelivery): Promise<void> {
    const { id: deliveryId, eventType, url, body } = delivery;
    const startedAt = new Date();
    options.onAttemptBegan(1, delivery.createdAt);
    let isTaken = false;
    const sent = await sender.send({
      url,
      headers: {},
      body,
      signal: cancelled,
      async beforeWrite() {
        const beginning = await begin(deliveryId);
        if (beginning.kind === 'begun') {
          const { secret } = beginning;
          return {
            proceed: true,
            headers: deliveryHeaders({ secret, deliveryId, eventType, body, now: new Date() }),
          };
        }
        isTaken = beginning.kind === 'taken';
        return { proceed: false, reason: beginning.kind === 'taken' ? beginning.kind : beginning.reason };
      },
    });
    if (sent.kind === 'stopped') {
      if (isTaken) result.handedBack += 1;
      else {
        await retryWhileDatabaseIsAway(() => endDelivery(db, deliveryId, sent.reason));
        result.stopped += 1;
      }
      return;
    }
    const outcome = toAttemptOutcome(sent, 1, startedAt);
    options.onAttemptEnded(outcome.verdict, 1);
    // Not awaited: the place at the receiver is free again as soon as it has answered.
    const recording = record({ deliveryId, outcome })
      .then(() => {
        result[outcome.verdict === 'retry' ? 'toRetry' : outcome.verdict] += 1;
        if (outcome.verdict === 'retry') options.bell.ring();
      })
      .catch((error: unknown) => {
        if (!cancelled.aborted) options.onError(error, delivery);
      })
      .finally(() => recordings.delete(recording));
    recordings.add(recording);
  }

  const lanes = createLanes(
    (delivery) =>
      attempt(delivery).catch((error: unknown) => {
        if (!cancelled.aborted) options.onError(error, delivery);
      }),
    look,
  );
  const giveUp = async (which: 'stalled' | 'all') => {
    const ids = lanes.giveUp(which).map(({ id }) => id);
    if (ids.length > 0) result.handedBack += await retryWhileDatabaseIsAway(() => handBack(db, burstId, ids));
  };

  /** Takes deliveries over and starts them; those of disabled endpoints end here. */
  async function claim(most: number): Promise<BurstDelivery[]> {
    const deliveries = await retryWhileDatabaseIsAway(() =>
      claimBurst(db, burstId, { most, without: lanes.supplied(), limits: lanes.limits() }),
    );
    const disabled = deliveries.filter(({ active }) => !active).map(({ id }) => id);
    if (disabled.length > 0) {
      result.stopped += await retryWhileDatabaseIsAway(() => endDeliveries(db, disabled, ENDPOINT_DISABLED));
    }
    lanes.add(deliveries.filter(({ active }) => active));
    return deliveries;
  }

  /** Claims and starts until the burst is full, or only a few are stored a second. */
  async function claimAll(): Promise<'claimed' | 'lull'> {
    let claimed = 0;
    let busyAt = startedAt;
    let lately = { since: startedAt, claimed: 0 };
    const isOver = () => isEnding() || claimed >= BURST_SIZE || performance.now() - startedAt > CLAIMING_MS;
    while (performance.now() - busyAt < IDLE_MS) {
      if (performance.now() - lately.since > FEW_MS) {
        if (lately.claimed < FEW && lanes.waiting === 0) return 'lull';
        lately = { since: performance.now(), claimed: 0 };
      }
      if (!wanted || lanes.waiting >= MOST_WAITING) await pause();
      // Asked after the pause: a process that was frozen in it may have lost the burst meanwhile.
      if (isOver()) return 'claimed';
      if (lanes.waiting < MOST_WAITING) {
        wanted = false;
        const deliveries = await claim(Math.min(CLAIM_SIZE, BURST_SIZE - claimed));
        claimed += deliveries.length;
        lately.claimed += deliveries.length;
        if (deliveries.length > 0) busyAt = performance.now();
        // A few are all there are; of more, others may be left.
        if (deliveries.length >= OPEN_IN_A_BURST) wanted = true;
        else await sleep(CLAIM_PAUSE_MS);
      }
      if (lanes.waiting > 0) busyAt = performance.now();
      await giveUp('stalled');
      options.onProgress(result);
    }
    return 'lull';
  }

  /** Until somebody rings, a receiver's deliveries run low, or it is time to look again. */
  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS);
      goOn = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const silence = options.bell.onRing(look);
  try {
    const notice = await claimAll();
    silence();
    await options.onClaimed(notice);
    while (lanes.waiting > 0 && !isEnding() && performance.now() - startedAt < STARTING_MS) {
      await giveUp('stalled');
      if (lanes.waiting > 0) await pause();
    }
    await giveUp('all');
  } finally {
    silence();
    await lanes.settled();
    while (recordings.size > 0) await Promise.all(recordings);
  }
  cancelled.throwIfAborted();
  // What ended in an error of our own: as unknown as with a lost worker.
  result.handedBack += await retryWhileDatabaseIsAway(() => handBack(db, burstId, 'all'));
  options.bell.ring();
  return result;
}
