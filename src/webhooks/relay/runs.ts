import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import type { DeliveryId } from '../../ids.ts';
import { pause } from '../../pause.ts';
import type { TaskQueues } from '../../temporal/task-queues.ts';
import type { TemporalClient } from '../../temporal/workflow-client.ts';
import { overdueRuns } from '../deliveries/read-open.ts';
import type { ClaimedDelivery } from './claim.ts';
import { startDelivery } from './start.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/**
 * How long a delivery is kept for the first attempt of its run, which later reads it from the database: what a claim has
 * seen of the endpoint, its pace above all, is soon another.
 */
const KEPT_MS = 1_000;

/** The runs that this process starts. */
export interface Runs {
  /** False while a start fails: new deliveries then go through bursts. */
  readonly areStarting: boolean;
  /** Runs started here within a second whose first attempt has not begun. */
  readonly waiting: number;
  /** Starts the run of a delivery just marked in_run, and retries until it is started. Does not wait for it. */
  start(delivery: ClaimedDelivery): void;
  /** The claimed delivery, once, when it was claimed here just now: its first attempt then reads nothing. */
  take(id: DeliveryId): ClaimedDelivery | undefined;
  /**
   * Starts every due delivery that is in_run, after a claim whose response was lost. Most are running already, and what
   * fails is left to `reconcile`.
   */
  startLost(db: Database): Promise<void>;
  /** Resolves when the starts under way have ended. `reconcile` finds the rest. */
  stop(): Promise<void>;
}

export function createRuns(client: TemporalClient, names: TaskQueues, logger: Logger): Runs {
  const kept = new Map<DeliveryId, { readonly delivery: ClaimedDelivery; readonly at: number }>();
  const starts = new Set<Promise<void>>();
  const failing = new Set<DeliveryId>();
  const stopping = new AbortController();

  function forgetOld(): void {
    const oldest = performance.now() - KEPT_MS;
    for (const [id, { at }] of kept) {
      if (at > oldest) return;
      kept.delete(id);
    }
  }

  async function startUntilStarted(delivery: ClaimedDelivery): Promise<void> {
    const { id: deliveryId, workspaceId, requestId } = delivery;
    let pauseMs = FIRST_PAUSE_MS;
    do {
      try {
        await startDelivery(client, names, delivery);
        return;
      } catch (error) {
        failing.add(deliveryId);
        logger.warn({ err: error, deliveryId, workspaceId, requestId }, 'delivery not started yet');
        await pause(pauseMs, stopping.signal);
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    } while (!stopping.signal.aborted);
  }

  return {
    get areStarting() {
      return failing.size === 0;
    },
    get waiting() {
      forgetOld();
      return kept.size;
    },
    start(delivery) {
      kept.set(delivery.id, { delivery, at: performance.now() });
      const one = startUntilStarted(delivery).finally(() => {
        failing.delete(delivery.id);
        starts.delete(one);
      });
      starts.add(one);
    },
    take(id) {
      forgetOld();
      const claimed = kept.get(id);
      kept.delete(id);
      return claimed?.delivery;
    },
    async startLost(db) {
      for await (const page of overdueRuns(db, 0)) {
        await Promise.all(page.map((delivery) => startDelivery(client, names, delivery)));
        if (stopping.signal.aborted) return;
      }
    },
    async stop() {
      stopping.abort();
      await Promise.all(starts);
    },
  };
}
