import type { EventEmitter } from 'node:events';
import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { expandFanOuts } from '../../events/fan-out.ts';
import { listenForDeliveries } from '../../events/listener.ts';
import { deliveriesStored } from '../../events/stored.ts';
import type { BurstId, EndpointId } from '../../ids.ts';
import { keepDoing, pause } from '../../pause.ts';
import { burstWorkflowId } from '../../temporal/ids.ts';
import type { TaskQueues } from '../../temporal/task-queues.ts';
import { awaitRun, type TemporalClient } from '../../temporal/workflow-client.ts';
import { ENDED_AT_ONCE, endDisabled } from '../deliveries/end.ts';
import { createBurstStarts } from './burst-starts.ts';
import { createRound, type RoundDependencies } from './round.ts';
import type { Runs } from './runs.ts';
import { createLook, createWalk } from './scans.ts';
import { startBurst } from './start.ts';
import type { Suspects } from './suspects.ts';
import { createTokens } from './tokens.ts';

/** Deliveries without a notice are found after this long. */
const POLL_MS = 500;
/** Between two rounds; what arrives meanwhile is one round's work. */
const ROUND_MS = 10;
/** Between two looks for due deliveries of disabled endpoints. */
const DISABLED_MS = 100;

export interface RelayOptions
  extends Omit<RoundDependencies, 'tokens' | 'look' | 'walk' | 'starts' | 'onDisabled'> {
  /** For statements with other plans: expanding fan-outs. */
  readonly common: Database;
  /** A connection string that reaches Postgres itself: LISTEN does not pass through a pooler. */
  readonly listenUrl: string;
  readonly client: TemporalClient;
  readonly names: TaskQueues;
  readonly logger: Logger;
  readonly runs: Runs;
  readonly suspects: Pick<Suspects, 'release'>;
  /** `wake` says that there may be capacity again. */
  readonly wakes: EventEmitter<{ wake: [] }>;
  /** Runs of single deliveries that this process starts per second, on average; 0 sends all through bursts. */
  readonly runsPerSecond: number;
}

export interface Relay {
  /** Milliseconds since the last successful round. */
  sinceRound(): number;
  /** Finishes the starts under way and stops. */
  stop(): Promise<void>;
}

/**
 * The one loop of a process that claims deliveries. It feeds the runs that it starts and the bursts open here, starts
 * a burst when due deliveries are left, ends due deliveries of disabled endpoints, and expands fan-outs. What a
 * delivery goes through: deliveries/states.ts. What the loop does, and when:
 *
 *     asleep ──► round ──► at least 10 ms ──► asleep, or the next round at once where one is worth it
 *       ▲                                       │
 *       └── until woken, or until the next of: poll, look, walk, start of a burst, an endpoint's next due delivery
 *
 * - round (round.ts): one claim, from the endpoints that candidates.ts chooses of known-endpoints.ts; what it took goes to
 *   runs.ts and bursts.ts, and what it left may need another burst (burst-starts.ts). A claim that fails is followed by a look
 *   and a walk, and by the starts of runs that it may have taken.
 * - look, walk (scans.ts): parts of a round's claim that find endpoints nobody here knows, among the latest deliveries and
 *   along the index. A commit or a notice wants a look; a look that read its maximum wants a walk; the poll wants both.
 * - Capacity that is free again, a burst that opens or ends, and a stored pace wake the loop.
 */
export function startRelay(options: RelayOptions): Relay {
  const { client, names, logger, runs, known, wakes } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const disabled = new Set<EndpointId>();
  const [look, walk] = [createLook(), createWalk()];
  const sleeper = createSleeper();
  const runBurst = async (burstId: BurstId) => {
    await startBurst(client, names, burstId);
    await awaitRun(client, burstWorkflowId(burstId), signal);
  };
  const starts = createBurstStarts({ run: runBurst, logger, signal, onEnded: sleeper.wake });
  const tokens = createTokens(options.runsPerSecond, performance.now());
  const onDisabled = (id: EndpointId) => disabled.add(id);
  const round = createRound({ ...options, tokens, look, walk, starts, onDisabled });
  let lastRoundAt = performance.now();
  let isClaimLost = false;
  let startingLost = Promise.resolve();

  /** After a claim without a response: what it took for runs is started by this process, or by `reconcile`. */
  function startLostRuns(): void {
    startingLost = startingLost
      .then(() => runs.startLost(options.common))
      .catch((error: unknown) => logger.warn({ err: error }, 'runs of a lost claim not started'));
  }

  /** @returns whether the next round is worth it at once */
  async function tryRound(now: number): Promise<boolean> {
    try {
      const isWorthMore = await round(now);
      lastRoundAt = performance.now();
      if (isClaimLost) startLostRuns();
      isClaimLost = false;
      return isWorthMore;
    } catch (error) {
      isClaimLost = true;
      lookEverywhere();
      logger.warn({ err: error }, 'due deliveries not claimed');
      await pause(POLL_MS, signal);
      return false;
    }
  }

  function lookEverywhere(): void {
    look.want();
    walk.want();
  }

  async function run(): Promise<void> {
    for (let pollAt = performance.now() + POLL_MS; !signal.aborted; ) {
      const startedAt = performance.now();
      if (startedAt >= pollAt) {
        lookEverywhere();
        pollAt = startedAt + POLL_MS;
      }
      sleeper.rest();
      const isWorthMore = await tryRound(startedAt);
      await pause(Math.max(0, ROUND_MS - (performance.now() - startedAt)), signal);
      if (isWorthMore || signal.aborted) continue;
      const nextDueAt = known.nextAfter(startedAt);
      await sleeper.sleepUntil(Math.min(pollAt, nextDueAt, look.dueAt(), walk.dueAt(), starts.dueAt()));
    }
  }

  /** Ends due deliveries of disabled endpoints in turn, while claims go on. */
  async function endDisabledDeliveries(): Promise<void> {
    for (const endpointId of disabled) {
      disabled.delete(endpointId);
      const ended = await endDisabled(options.common, endpointId);
      if (ended === ENDED_AT_ONCE) disabled.add(endpointId);
      if (signal.aborted) return;
    }
  }

  async function releaseSuspects(): Promise<void> {
    if (await options.suspects.release()) sleeper.wake();
  }

  const onStored = () => {
    look.want();
    sleeper.wake();
  };
  const keepOn = (work: () => Promise<unknown>, everyMs: number, failure: string) =>
    keepDoing(work, { everyMs, signal, onError: (err) => logger.warn({ err }, failure) });
  wakes.on('wake', sleeper.wake);
  const unsubscribe = deliveriesStored.subscribe(onStored);
  const working = [
    run(),
    keepOn(() => expandFanOuts(options.common, stopping), POLL_MS, 'fan-outs not expanded'),
    keepOn(endDisabledDeliveries, DISABLED_MS, 'deliveries of a disabled endpoint not ended'),
    keepOn(releaseSuspects, POLL_MS, 'deliveries of a lost worker not released'),
    listenForDeliveries({ ...options, onStored }, signal),
  ];
  return {
    sinceRound: () => performance.now() - lastRoundAt,
    async stop() {
      unsubscribe();
      wakes.off('wake', sleeper.wake);
      stopping.abort();
      sleeper.wake();
      await Promise.all(working);
      // What the last claim took for runs is being started now.
      await Promise.all([startingLost, runs.stop()]);
    },
  };
}

/** A sleep that whoever has work cuts short, also before it began. */
function createSleeper() {
  let isWoken = false;
  let wakeUp: () => void = () => undefined;
  return {
    wake() {
      isWoken = true;
      wakeUp();
    },
    /** Forgets wakes until now. */
    rest() {
      isWoken = false;
    },
    /** @param at on the monotonic clock, in milliseconds */
    sleepUntil: (at: number) =>
      new Promise<void>((resolve) => {
        if (isWoken) return resolve();
        const timer = setTimeout(resolve, Math.max(0, at - performance.now()));
        wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
  };
}
