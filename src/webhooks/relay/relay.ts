import type { EventEmitter } from 'node:events';
import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { expandFanOuts } from '../../events/fan-out.ts';
import { listenForDeliveries } from '../../events/listener.ts';
import { deliveriesStored } from '../../events/stored.ts';
import { type BurstId, type EndpointId, newId } from '../../ids.ts';
import { keepDoing, pause } from '../../pause.ts';
import { burstWorkflowId } from '../../temporal/ids.ts';
import type { TaskQueues } from '../../temporal/task-queues.ts';
import { awaitRun, type TemporalClient } from '../../temporal/workflow-client.ts';
import { ENDED_AT_ONCE, endDisabled } from '../deliveries/end.ts';
import type { Bursts } from './bursts.ts';
import type { Capacity } from './capacity.ts';
import { type Candidate, claimDue, FEW_DUE, type SeenEndpoint, WALK_START } from './claim.ts';
import type { KnownEndpoint, KnownEndpoints } from './known-endpoints.ts';
import type { Runs } from './runs.ts';
import { startBurst } from './start.ts';
import { createTokens } from './tokens.ts';

/** What no notice has told of is found after this long. */
const POLL_MS = 500;
/** Between two rounds: what comes in meanwhile is one round's work. */
const ROUND_MS = 10;
/** A walk past all endpoints that wait takes at most a fifth of the time. */
const PAUSE_PER_WALK = 4;
const LONGEST_PAUSE_MS = 10 * POLL_MS;
/** Deliveries of one claim. */
const CLAIM_LIMIT = 500;
/** A burst is started when a few due deliveries have been left for this long; for more than may get runs, at once. */
const LEFT_MS = 100;
/** Bursts that this relay has started and that have not ended. */
const MAX_STARTED_BURSTS = 2;

export interface RelayOptions {
  /** For claims: see {@link createDeliveryDatabase}. */
  readonly db: Database;
  /** For what has other plans: expanding fan-outs. */
  readonly common: Database;
  /** A connection string that reaches Postgres itself: LISTEN does not pass through a pooler. */
  readonly listenUrl: string;
  readonly client: TemporalClient;
  readonly names: TaskQueues;
  readonly logger: Logger;
  readonly runs: Runs;
  readonly bursts: Bursts;
  readonly capacity: Capacity;
  readonly known: KnownEndpoints;
  /** `wake` says that there may be room for more. */
  readonly wakes: EventEmitter<{ wake: [] }>;
  /** Runs of single deliveries that this process starts a second, on average; 0 sends all through bursts. */
  readonly runsPerSecond: number;
}

export interface Relay {
  /** Milliseconds since a round went well: what was due was looked for, and claimed. */
  sinceRound(): number;
  /** Finishes the starts under way and stops. */
  stop(): Promise<void>;
}

/**
 * The one loop of a process that claims deliveries: it feeds the runs that it starts and the bursts that are open here,
 * starts a burst when something due is left, ends what is due of disabled endpoints, and expands fan-outs. How a
 * delivery moves is written in deliveries/states.ts.
 */
export function startRelay(options: RelayOptions): Relay {
  const { db, client, names, logger, runs, bursts, capacity, known, wakes } = options;
  const stopping = new AbortController();
  const tokens = createTokens(options.runsPerSecond, performance.now());
  const startedBursts = new Set<Promise<void>>();
  const disabled = new Set<EndpointId>();
  let isWanted = true;
  let isStored = true;
  let isWalkWanted = true;
  /** Where the walk that is under way goes on. */
  let walkedTo: EndpointId | null = null;
  let isClaimLost = false;
  let startingLost = Promise.resolve();
  let walkAt = 0;
  let leftSince: number | null = null;
  let burstsFrom = 0;
  let wentWell = performance.now();
  let wakeUp: () => void = () => undefined;

  const wake = () => {
    isWanted = true;
    wakeUp();
  };
  const look = () => {
    isStored = true;
    wake();
  };
  wakes.on('wake', wake);
  /** Until somebody wakes the relay, or the time. @param at on the monotonic clock, in milliseconds */
  const sleepUntil = (at: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, at - performance.now()));
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function startOneBurst(): Promise<void> {
    const burstId = newId<BurstId>();
    try {
      await startBurst(client, names, burstId);
      await awaitRun(client, burstWorkflowId(burstId), stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) return;
      burstsFrom = performance.now() + POLL_MS;
      logger.warn({ err: error, burstId }, 'burst not started yet');
    }
  }

  /** Starts a burst when due deliveries were left although their receivers have room. */
  function startBurstWhenNeeded(isLeft: boolean, isMuch: boolean, now: number): void {
    leftSince = isLeft ? (leftSince ?? now) : null;
    const isUrgent = isMuch && startedBursts.size === 0;
    if (leftSince === null || now < burstsFrom || (!isUrgent && now - leftSince < LEFT_MS)) return;
    if (startedBursts.size >= MAX_STARTED_BURSTS) return;
    leftSince = now;
    const one = startOneBurst().finally(() => {
      startedBursts.delete(one);
      wake();
    });
    startedBursts.add(one);
  }

  /** When to look whether a burst is needed still; the end of one that this relay has started wakes it, too. */
  const nextBurstAt = (): number =>
    leftSince === null || startedBursts.size >= MAX_STARTED_BURSTS
      ? Number.POSITIVE_INFINITY
      : Math.max(leftSince + LEFT_MS, burstsFrom);

  async function round(now: number): Promise<void> {
    const burst = bursts.accepting();
    const runsLeft = runs.areStarting ? tokens.available(now) : 0;
    const isLook = isStored;
    if (walkedTo === null && isWalkWanted && now >= walkAt) {
      walkedTo = WALK_START;
      isWalkWanted = false;
    }
    const walkFrom = now >= walkAt ? walkedTo : null;
    const due = known.due(now);
    const candidates = new Map<EndpointId, Candidate>();
    const share = capacity.shareOut();
    const consider = ({ id: endpointId, workspaceId, dueFrom }: KnownEndpoint) => {
      if (candidates.has(endpointId)) return;
      const room = burst === undefined ? 0 : share(endpointId, workspaceId);
      const isAsked = isLook || walkFrom !== null || room > 0 || runsLeft > 0;
      if (isAsked) candidates.set(endpointId, { endpointId, dueFrom, room });
    };
    for (const endpoint of due) consider(endpoint);
    if (isLook) for (const endpoint of known.recent(now)) consider(endpoint);
    isStored = false;
    if (!isLook && walkFrom === null && candidates.size === 0) {
      startBurstWhenNeeded(burst === undefined && due.some(hasRoom), false, now);
      return;
    }
    const claiming = claimDue(db, {
      candidates: [...candidates.values()],
      isLook,
      walkFrom,
      limit: Math.max(0, Math.min(CLAIM_LIMIT, burst === undefined ? runsLeft : capacity.left)),
      tokens: runsLeft,
      burstId: burst?.id ?? null,
    });
    burst?.awaits(claiming);
    const claim = await claiming;
    const took = performance.now() - now;
    if (walkFrom !== null) {
      walkedTo = claim.walkedTo;
      walkAt = now + took + Math.min(LONGEST_PAUSE_MS, took * PAUSE_PER_WALK);
    }
    // Few of the latest have been seen all: a walk would only pass what has been delivered and is not vacuumed yet.
    isWalkWanted ||= claim.isLookFull;
    tokens.spend(claim.deliveries.length);
    const claimed = new Map<string, number>();
    for (const delivery of claim.deliveries) {
      claimed.set(delivery.endpointId, (claimed.get(delivery.endpointId) ?? 0) + 1);
      if (delivery.inRun) runs.start(delivery);
      else burst?.send(delivery, now);
    }
    let isLeft = false;
    let isMuch = false;
    // Those that were served come last: the others are first in the next round.
    for (const endpoint of claim.endpoints.toReversed()) {
      candidates.delete(endpoint.id);
      const isMore =
        endpoint.active && (endpoint.due > FEW_DUE || endpoint.due > (claimed.get(endpoint.id) ?? 0));
      known.saw(endpoint, isMore, now);
      if (isMore && hasRoom(endpoint)) {
        isLeft = true;
        isMuch ||= endpoint.due > FEW_DUE;
      }
      if (!endpoint.active && endpoint.due > 0) disabled.add(endpoint.id);
    }
    for (const endpointId of candidates.keys()) known.forget(endpointId);
    if (isLeft && (isLook || walkFrom !== null || claim.deliveries.length > 0)) isWanted = true;
    startBurstWhenNeeded(isLeft && burst === undefined, isMuch, now);
  }

  const hasRoom = ({ id, workspaceId }: Pick<SeenEndpoint, 'id' | 'workspaceId'>) =>
    capacity.room(id, workspaceId) > 0;

  /** Ends what is due of disabled endpoints, some of each in turn, while claims go on. */
  async function endDisabledOnes(): Promise<void> {
    for (const endpointId of disabled) {
      disabled.delete(endpointId);
      const ended = await endDisabled(options.common, endpointId);
      if (ended === ENDED_AT_ONCE) disabled.add(endpointId);
      if (stopping.signal.aborted) return;
    }
  }

  async function attempt(startedAt: number): Promise<void> {
    try {
      await round(startedAt);
      wentWell = performance.now();
      if (isClaimLost) {
        startingLost = startingLost
          .then(() => runs.startLost(options.common))
          .catch((error: unknown) => logger.warn({ err: error }, 'runs of a lost claim not started'));
      }
      isClaimLost = false;
    } catch (error) {
      isStored = true;
      isWalkWanted = true;
      isClaimLost = true;
      logger.warn({ err: error }, 'due deliveries not claimed');
      await pause(POLL_MS, stopping.signal);
    }
  }

  async function run(): Promise<void> {
    let pollAt = performance.now() + POLL_MS;
    while (!stopping.signal.aborted) {
      isWanted = false;
      const startedAt = performance.now();
      if (startedAt >= pollAt) {
        isStored = true;
        isWalkWanted = true;
        pollAt = startedAt + POLL_MS;
      }
      await attempt(startedAt);
      if (stopping.signal.aborted) return;
      const took = performance.now() - startedAt;
      if (took < ROUND_MS) await pause(ROUND_MS - took, stopping.signal);
      if (isWanted) continue;
      // A walk that is wanted before its time waits for it.
      await sleepUntil(
        Math.min(
          pollAt,
          known.nextAfter(startedAt),
          isWalkWanted || walkedTo !== null ? walkAt : Number.POSITIVE_INFINITY,
          nextBurstAt(),
        ),
      );
    }
  }

  const keepOn = (work: () => Promise<unknown>, everyMs: number, failure: string) =>
    keepDoing(work, { everyMs, signal: stopping.signal, onError: (err) => logger.warn({ err }, failure) });
  const unsubscribe = deliveriesStored.subscribe(look);
  const working = [
    run(),
    keepOn(() => expandFanOuts(options.common, stopping), POLL_MS, 'fan-outs not expanded'),
    keepOn(endDisabledOnes, LEFT_MS, 'deliveries of a disabled endpoint not ended'),
    listenForDeliveries({ ...options, onStored: look }, stopping.signal),
  ];
  return {
    sinceRound: () => performance.now() - wentWell,
    async stop() {
      unsubscribe();
      stopping.abort();
      wake();
      await Promise.all(working);
      // What the last claim took for runs is being started now.
      await Promise.all([startingLost, runs.stop()]);
    },
  };
}
