import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { type BurstId, type DeliveryId, type EndpointId, newId } from '../../ids.ts';
import type { TaskQueues } from '../../temporal/task-queues.ts';
import type { TemporalClient } from '../../temporal/workflow-client.ts';
import type { BurstTracker } from '../burst/tracker.ts';
import { isBacklog, measureBacklog } from './backlog.ts';
import type { OutboxBell } from './bell.ts';
import { backOff, type ClaimedDelivery, claimDeliveries, markHandedOver } from './claim.ts';
import { BURST_SIZE, whileClaiming } from './limits.ts';
import { listenForDeliveries } from './listen.ts';
import { startDelivery } from './start.ts';
import { startBurst } from './start-burst.ts';

const POLL_MS = 1_000;
/** A round that takes longer is left to itself, and another begins. In milliseconds. */
const LONGEST_ROUND_MS = 60_000;
/** Starts of this process that are under way at once. */
const MOST_STARTS = 50;
/** Bursts of this relay that claim at once: while one starts, the other sends. */
const MOST_BURSTS = 2;
/** Between two rounds: what rings meanwhile is one round's work. */
const ROUND_MS = 10;
/** The same while bursts look after the outbox: a round then only starts retries, and the next burst. */
const ROUND_BESIDE_BURSTS_MS = 100;

export interface RelayOptions {
  readonly db: Database;
  /** A connection string that reaches Postgres itself: LISTEN does not pass through a pooler. */
  readonly listenUrl: string;
  readonly client: TemporalClient;
  readonly names: TaskQueues;
  readonly logger: Logger;
  /** Rings whenever the outbox may have new rows; the relay rings it for what it hears from Postgres. */
  readonly bell: OutboxBell;
  readonly tracker: BurstTracker;
  /** Deliveries that wait before first attempts go through bursts; 0 for never. */
  readonly burstThreshold: number;
}

export interface Relay {
  /** Milliseconds since a round went well: the outbox was looked at, and what there was to start was started. */
  sinceRound(): number;
  /** Finishes the starts under way and stops. */
  stop(): Promise<void>;
}

/**
 * Hands deliveries over to Temporal: claims them from the outbox, starts a run each, and takes them out.
 * A crash between any two of these steps repeats the start, which a used id turns into nothing. While there is a
 * backlog, first attempts stay in the outbox for the bursts that it starts.
 */
export function startRelay(options: RelayOptions): Relay {
  const { db, client, names, logger, bell, tracker } = options;
  const stopping = new AbortController();
  let wanted = true;
  let wakeUp: () => void = () => undefined;
  const wake = () => {
    wanted = true;
    wakeUp();
  };

  const nextWake = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  /** Cut short when the place of a burst is free. */
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      tracker.onClaimed = () => {
        clearTimeout(timer);
        resolve();
        wake();
      };
    });

  const starts = new Set<Promise<void>>();
  const startsOf = new Map<EndpointId, number>();
  const started: DeliveryId[] = [];
  const failed: DeliveryId[] = [];

  /** Not awaited by the loop: a start that takes long must not keep other endpoints' deliveries from theirs. */
  function start(delivery: ClaimedDelivery): void {
    const { endpoint_id: endpointId } = delivery;
    const count = (change: 1 | -1) => {
      const total = (startsOf.get(endpointId) ?? 0) + change;
      if (total === 0) startsOf.delete(endpointId);
      else startsOf.set(endpointId, total);
    };
    count(1);
    const one = startDelivery(client, names, delivery)
      .then(
        () => {
          started.push(delivery.id);
          wake();
        },
        (error: unknown) => {
          // No wake: a server that refuses every start is asked again at the next poll, not at once.
          failed.push(delivery.id);
          const { id: deliveryId, workspace_id: workspaceId, request_id: requestId } = delivery;
          logger.warn({ err: error, deliveryId, workspaceId, requestId }, 'delivery not started yet');
        },
      )
      .finally(() => {
        starts.delete(one);
        count(-1);
      });
    starts.add(one);
  }

  /** What cannot be written is repeated when its lease runs out. */
  async function writeDown(): Promise<void> {
    const ends = [started.splice(0), failed.splice(0)] as const;
    await markHandedOver(db, ends[0]);
    await backOff(db, ends[1]);
  }

  /** After a start that failed, the next is tried at the next poll. */
  let burstsFrom = 0;

  function burst(): void {
    const burstId = newId<BurstId>();
    tracker.claiming(burstId, 'own');
    const one = startBurst(client, names, burstId)
      .then(
        () => undefined,
        (error: unknown) => {
          tracker.abandoned(burstId);
          burstsFrom = performance.now() + POLL_MS;
          logger.warn({ err: error, burstId }, 'burst not started yet');
        },
      )
      .finally(() => starts.delete(one));
    starts.add(one);
  }

  async function round(): Promise<void> {
    await writeDown();
    const room = MOST_STARTS - starts.size;
    if (room <= 0) return;
    const { burstThreshold } = options;
    const waiting = await measureBacklog(db, Math.max(MOST_BURSTS * BURST_SIZE, burstThreshold));
    const beside = isBacklog(waiting, burstThreshold, tracker.isOn()) ? 'bursts' : 'nothing';
    if (beside === 'bursts' && performance.now() > burstsFrom) {
      const wanted = Math.min(MOST_BURSTS, Math.ceil(waiting.count / BURST_SIZE)) - tracker.own();
      for (let count = 0; count < wanted; count += 1) burst();
    }
    const claimed = await whileClaiming(db, (tx) =>
      claimDeliveries(tx, { most: room, starting: startsOf, beside }),
    );
    for (const delivery of claimed) start(delivery);
  }

  let wentWell = performance.now();

  const attempt = async (work: () => Promise<void>) => {
    const patience = new AbortController();
    const late = sleep(LONGEST_ROUND_MS, undefined, { signal: patience.signal }).then(() => {
      throw new Error(`no end within ${LONGEST_ROUND_MS / 1_000} seconds`);
    });
    try {
      await Promise.race([work(), late]);
      wentWell = performance.now();
    } catch (error) {
      logger.warn({ err: error }, 'outbox not read');
    } finally {
      patience.abort();
      late.catch(() => undefined);
    }
  };

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      wanted = false;
      await attempt(round);
      await pause(tracker.isOn() ? ROUND_BESIDE_BURSTS_MS : ROUND_MS);
      if (!wanted && !stopping.signal.aborted) await nextWake();
    }
    await Promise.all(starts);
    await attempt(writeDown);
  }

  const silence = bell.onRing(wake);
  const running = run();
  const listening = listenForDeliveries(options, stopping.signal);
  return {
    sinceRound: () => performance.now() - wentWell,
    async stop() {
      silence();
      stopping.abort();
      wake();
      await Promise.all([running, listening]);
    },
  };
}
