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
import type { Paces } from '../pace/paces.ts';
import type { Bursts } from './bursts.ts';
import type { Capacity } from './capacity.ts';
import { type Candidate, claimDue, FEW_DUE, type SeenEndpoint, WALK_START } from './claim.ts';
import type { HeldEndpoints } from './held-endpoints.ts';
import type { KnownEndpoint, KnownEndpoints } from './known-endpoints.ts';
import type { Runs } from './runs.ts';
import { startBurst } from './start.ts';
import { createTokens } from './tokens.ts';

/** Deliveries without a notice are found after this long. */
const POLL_MS = 500;
/** Between two rounds; what arrives meanwhile is one round's work. */
const ROUND_MS = 10;
/** A walk past all waiting endpoints takes at most a fifth of the time. */
const PAUSE_PER_WALK = 4;
const LONGEST_PAUSE_MS = 10 * POLL_MS;
/** Deliveries of one claim. */
const CLAIM_LIMIT = 500;
/**
 * A few unclaimed due deliveries wait this long before a burst is started; more than may get runs start one at once.
 */
const UNCLAIMED_MS = 100;
/** Bursts that this relay has started and that have not ended. */
const MAX_STARTED_BURSTS = 2;

export interface RelayOptions {
  /** For claims: see {@link createDeliveryDatabase}. */
  readonly db: Database;
  /** For statements with other plans: expanding fan-outs. */
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
  readonly held: HeldEndpoints;
  readonly paces: Pick<Paces, 'isHeld'>;
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
 * The one loop of a process that claims deliveries. It feeds the runs that it starts and the bursts open here, starts a
 * burst when due deliveries are left, ends due deliveries of disabled endpoints, and expands fan-outs. States:
 * deliveries/states.ts.
 */
export function startRelay(options: RelayOptions): Relay {
  const { db, client, names, logger, runs, bursts, capacity, known, held, paces, wakes } = options;
  const stopping = new AbortController();
  const tokens = createTokens(options.runsPerSecond, performance.now());
  const startedBursts = new Set<Promise<void>>();
  const disabled = new Set<EndpointId>();
  let isRoundDue = true;
  let isLookDue = true;
  let isWalkDue = true;
  /** Where the present walk continues. */
  let walkedTo: EndpointId | null = null;
  let isClaimLost = false;
  let startingLost = Promise.resolve();
  let walkAt = 0;
  let unclaimedSince: number | null = null;
  let nextBurstFrom = 0;
  let lastRoundAt = performance.now();
  let wakeUp: () => void = () => undefined;

  const wake = () => {
    isRoundDue = true;
    wakeUp();
  };
  const look = () => {
    isLookDue = true;
    wake();
  };
  wakes.on('wake', wake);
  /** Resolves at `at`, or when the relay is woken. @param at on the monotonic clock, in milliseconds */
  const sleepUntil = (at: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, at - performance.now()));
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function startBurstRun(): Promise<void> {
    const burstId = newId<BurstId>();
    try {
      await startBurst(client, names, burstId);
      await awaitRun(client, burstWorkflowId(burstId), stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) return;
      nextBurstFrom = performance.now() + POLL_MS;
      logger.warn({ err: error, burstId }, 'burst not started yet');
    }
  }

  /** Starts a burst when due deliveries are left although their receivers have capacity. */
  function startBurstWhenNeeded(hasUnclaimed: boolean, hasBacklog: boolean, now: number): void {
    unclaimedSince = hasUnclaimed ? (unclaimedSince ?? now) : null;
    const isUrgent = hasBacklog && startedBursts.size === 0;
    if (unclaimedSince === null || now < nextBurstFrom || (!isUrgent && now - unclaimedSince < UNCLAIMED_MS))
      return;
    if (startedBursts.size >= MAX_STARTED_BURSTS) return;
    unclaimedSince = now;
    const one = startBurstRun().finally(() => {
      startedBursts.delete(one);
      wake();
    });
    startedBursts.add(one);
  }

  /** When to check again whether a burst is needed; the end of a started burst wakes the relay, too. */
  const nextBurstAt = (): number =>
    unclaimedSince === null || startedBursts.size >= MAX_STARTED_BURSTS
      ? Number.POSITIVE_INFINITY
      : Math.max(unclaimedSince + UNCLAIMED_MS, nextBurstFrom);

  async function round(now: number): Promise<void> {
    const burst = bursts.accepting();
    const runsLeft = runs.areStarting ? tokens.available(now) : 0;
    const isLook = isLookDue;
    if (walkedTo === null && isWalkDue && now >= walkAt) {
      walkedTo = WALK_START;
      isWalkDue = false;
    }
    const walkFrom = now >= walkAt ? walkedTo : null;
    const due = known.due(now);
    const candidates = new Map<EndpointId, Candidate>();
    const share = capacity.shareOut();
    const consider = ({ id: endpointId, workspaceId, dueFrom }: KnownEndpoint) => {
      if (candidates.has(endpointId) || paces.isHeld(endpointId)) return;
      const room = burst === undefined ? 0 : share(endpointId, workspaceId);
      const isUseful = isLook || walkFrom !== null || room > 0 || runsLeft > 0;
      if (isUseful) candidates.set(endpointId, { endpointId, dueFrom, room });
    };
    for (const endpoint of due) consider(endpoint);
    if (isLook) for (const endpoint of known.recent(now)) consider(endpoint);
    isLookDue = false;
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
      keyIds: held.keyIds,
      held: held.excluded(),
    });
    burst?.awaits(claiming);
    const claim = await claiming;
    const took = performance.now() - now;
    if (walkFrom !== null) {
      walkedTo = claim.walkedTo;
      walkAt = now + took + Math.min(LONGEST_PAUSE_MS, took * PAUSE_PER_WALK);
    }
    // A look that is not full has seen all: a walk would only pass delivered rows not vacuumed yet.
    isWalkDue ||= claim.isLookFull;
    tokens.spend(claim.deliveries.length);
    const claimed = new Map<string, number>();
    for (const delivery of claim.deliveries) {
      claimed.set(delivery.endpointId, (claimed.get(delivery.endpointId) ?? 0) + 1);
      if (delivery.inRun) runs.start(delivery);
      else burst?.send(delivery, now);
    }
    let hasUnclaimed = false;
    let hasBacklog = false;
    // Served endpoints come last: the others are first in the next round.
    for (const endpoint of claim.endpoints.toReversed()) {
      candidates.delete(endpoint.id);
      const { active, due: found, unreadable, paceIn } = endpoint;
      const taken = claimed.get(endpoint.id) ?? 0;
      const isWaiting = paceIn !== null && (found === 0 || taken > 0);
      const isMore = active && unreadable === null && (found > FEW_DUE || found > taken);
      if (active && found > 0 && unreadable !== null) held.passed(endpoint.id, unreadable);
      known.saw(endpoint, isMore, now, isWaiting ? now + paceIn * 1_000 : now);
      if (isMore && !isWaiting && hasRoom(endpoint)) {
        hasUnclaimed = true;
        hasBacklog ||= endpoint.due > FEW_DUE;
      }
      if (!endpoint.active && endpoint.due > 0) disabled.add(endpoint.id);
    }
    for (const endpointId of candidates.keys()) known.forget(endpointId);
    if (hasUnclaimed && (isLook || walkFrom !== null || claim.deliveries.length > 0)) isRoundDue = true;
    startBurstWhenNeeded(hasUnclaimed && burst === undefined, hasBacklog, now);
  }

  const hasRoom = ({ id, workspaceId }: Pick<SeenEndpoint, 'id' | 'workspaceId'>) =>
    capacity.room(id, workspaceId) > 0;

  /** Ends due deliveries of disabled endpoints in turn, while claims go on. */
  async function endDisabledDeliveries(): Promise<void> {
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
      lastRoundAt = performance.now();
      if (isClaimLost) {
        startingLost = startingLost
          .then(() => runs.startLost(options.common))
          .catch((error: unknown) => logger.warn({ err: error }, 'runs of a lost claim not started'));
      }
      isClaimLost = false;
    } catch (error) {
      isLookDue = true;
      isWalkDue = true;
      isClaimLost = true;
      logger.warn({ err: error }, 'due deliveries not claimed');
      await pause(POLL_MS, stopping.signal);
    }
  }

  async function run(): Promise<void> {
    let pollAt = performance.now() + POLL_MS;
    while (!stopping.signal.aborted) {
      isRoundDue = false;
      const startedAt = performance.now();
      if (startedAt >= pollAt) {
        isLookDue = true;
        isWalkDue = true;
        pollAt = startedAt + POLL_MS;
      }
      await attempt(startedAt);
      if (stopping.signal.aborted) return;
      const took = performance.now() - startedAt;
      if (took < ROUND_MS) await pause(ROUND_MS - took, stopping.signal);
      if (isRoundDue) continue;
      // A walk wanted early waits for its time.
      await sleepUntil(
        Math.min(
          pollAt,
          known.nextAfter(startedAt),
          isWalkDue || walkedTo !== null ? walkAt : Number.POSITIVE_INFINITY,
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
    keepOn(endDisabledDeliveries, UNCLAIMED_MS, 'deliveries of a disabled endpoint not ended'),
    listenForDeliveries({ ...options, onStored: look }, stopping.signal),
  ];
  return {
    sinceRound: () => performance.now() - lastRoundAt,
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
