import { activityInfo, cancellationSignal, heartbeat, log } from '@temporalio/activity';
import type { BurstId } from '../src/ids.ts';
import type { BurstMode, DeliverBurstResult } from '../src/temporal/shapes.ts';
import { endBurst } from '../src/webhooks/attempts/record.ts';
import { handBack } from '../src/webhooks/burst/hand-back.ts';
import { announce, type BurstNotice } from '../src/webhooks/burst/notices.ts';
import { NOTHING_SENT, sendBurst } from '../src/webhooks/burst/send.ts';
import type { BurstTracker } from '../src/webhooks/burst/tracker.ts';
import { asFinalFailure, retryWhileDatabaseIsAway } from './failures.ts';
import { whileBeating } from './heartbeat.ts';
import type { WebhookActivityDependencies } from './webhooks.ts';

const HEARTBEAT_MS = 5_000;

export interface BurstActivityDependencies extends WebhookActivityDependencies {
  readonly tracker: BurstTracker;
  /** Aborts when the worker stops: a burst then takes nothing more. */
  readonly stopping: AbortSignal;
}

export type BurstActivities = ReturnType<typeof createBurstActivities>;

/** The steps of `deliverBurst`. */
export function createBurstActivities(dependencies: BurstActivityDependencies) {
  const { db, bell, tracker } = dependencies;

  /** Best effort: whoever does not hear of the end waits for a time instead. */
  async function tell(notice: BurstNotice, burstId: BurstId): Promise<void> {
    if (notice === 'claiming') tracker.claiming(burstId, 'other');
    else tracker.claimed(burstId, notice);
    bell.ring();
    await announce(db, notice, burstId).catch((error: unknown) =>
      log.warn('other relays not told', { error }),
    );
  }

  return {
    /**
     * Sends the first attempts of what waits in the outbox, once: an execution that follows a lost one sends
     * nothing and hands back what that one has not recorded.
     */
    async sendBurst(burstId: BurstId, mode: BurstMode): Promise<DeliverBurstResult> {
      const { attempt, heartbeatDetails } = activityInfo();
      let progress: DeliverBurstResult = heartbeatDetails ?? NOTHING_SENT;
      return whileBeating(
        HEARTBEAT_MS,
        () => heartbeat(progress),
        async () => {
          if (attempt > 1 || mode === 'hand back') {
            const handedBack = await retryWhileDatabaseIsAway(() => handBack(db, burstId, 'all'));
            await tell('claimed', burstId);
            return { ...progress, handedBack: progress.handedBack + handedBack };
          }
          await tell('claiming', burstId);
          return sendBurst({
            ...dependencies,
            burstId,
            cancelled: cancellationSignal(),
            retryWhileDatabaseIsAway,
            onProgress: (result) => {
              progress = result;
            },
            onClaimed: (notice) => tell(notice, burstId),
            onError: (error, { id }) => log.error('attempt left unrecorded', { deliveryId: id, error }),
          });
        },
      );
    },

    /** Ends what a burst that was stopped has neither recorded nor handed back. */
    endBurst: (burstId: BurstId, reason: string): Promise<number> =>
      asFinalFailure(() => endBurst(db, burstId, reason)),
  };
}
