import { AsyncLocalStorage } from 'node:async_hooks';
import { activityInfo, cancellationSignal, heartbeat, log } from '@temporalio/activity';
import type { Database } from '../src/db/database.ts';
import type { BurstId } from '../src/ids.ts';
import type { DeliverBurstResult } from '../src/temporal/shapes.ts';
import { freeBurst as free } from '../src/webhooks/deliveries/free-burst.ts';
import { type Bursts, NOTHING_SENT } from '../src/webhooks/relay/bursts.ts';
import { asFinalFailure, retryWhileDatabaseIsAway } from './failures.ts';
import { whileBeating } from './heartbeat.ts';

const HEARTBEAT_MS = 5_000;

export interface BurstActivityDependencies {
  readonly db: Database;
  readonly bursts: Bursts;
  /** Aborts when the worker stops: a burst then takes nothing more. */
  readonly stopping: AbortSignal;
}

export type BurstActivities = ReturnType<typeof createBurstActivities>;

/** The activities of `deliverBurst`. */
export const createBurstActivities = ({ db, bursts, stopping }: BurstActivityDependencies) => ({
  /** Sends due deliveries, once: an execution after a lost one only frees the lost one's deliveries. */
  async sendBurst(burstId: BurstId): Promise<DeliverBurstResult> {
    const { attempt, heartbeatDetails } = activityInfo();
    let progress: DeliverBurstResult = heartbeatDetails ?? NOTHING_SENT;
    const send = async () => {
      if (attempt > 1) {
        const freed = await retryWhileDatabaseIsAway(() => free(db, burstId));
        log.warn('freed what a lost worker had', { burstId, deliveries: freed });
        return { ...progress, freed: progress.freed + freed };
      }
      // The relay hands deliveries to the burst from outside this activity.
      const inActivity = AsyncLocalStorage.snapshot();
      return bursts.run(burstId, {
        cancelled: cancellationSignal(),
        stopping,
        retryWhileDatabaseIsAway: (work) => inActivity(() => retryWhileDatabaseIsAway(work)),
        onProgress: (result) => {
          progress = { ...result };
        },
      });
    };
    return whileBeating(HEARTBEAT_MS, () => heartbeat(progress), send);
  },

  /** Frees the deliveries of a burst that an operator stopped. */
  freeBurst: (burstId: BurstId): Promise<number> => asFinalFailure(() => free(db, burstId)),
});
