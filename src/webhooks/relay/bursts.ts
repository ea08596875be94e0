import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { BurstId, DeliveryId } from '../../ids.ts';
import { pause } from '../../pause.ts';
import type { DeliverBurstResult } from '../../temporal/shapes.ts';
import { type AttemptDependencies, type AttemptResult, makeAttempt } from '../attempts/attempt.ts';
import { createBatcher } from '../attempts/batcher.ts';
import { MAX_ATTEMPTS, waitAfter } from '../attempts/schedule.ts';
import { type AttemptStart, type Begun, beginAttempts, takeBack } from '../deliveries/begin.ts';
import { endOne } from '../deliveries/end.ts';
import { freeBurst } from '../deliveries/free-burst.ts';
import { type RecordedAttempt, recordAttempts } from '../deliveries/record.ts';
import { ENDPOINT_DISABLED, type Holder, isHeldBy } from '../deliveries/states.ts';
import { DECISION_MS } from '../sending/sender.ts';
import type { Capacity, InFlight } from './capacity.ts';
import type { ClaimedDelivery } from './claim.ts';
import type { KnownEndpoints } from './known-endpoints.ts';
import type { Suspects } from './suspects.ts';

/** How long a burst takes deliveries. */
const OPEN_MS = 60_000;
/** A burst ends after this long without a delivery. */
const IDLE_MS = 1_000;
const LOOK_MS = 100;

/** The result of a burst that has sent nothing. */
export const NOTHING_SENT: DeliverBurstResult = { succeeded: 0, toRetry: 0, failed: 0, stopped: 0, freed: 0 };

/** A burst of this process that takes deliveries. */
export interface OpenBurst {
  readonly id: BurstId;
  /** When it takes no more, by `performance.now()`. */
  readonly closesAt: number;
  /** Registers a claim for the burst, which does not end before the claimed deliveries are sent. */
  awaits(claim: Promise<unknown>): void;
  /** Sends one delivery claimed for it. @param claimStartedAt by `performance.now()`, right before the claim */
  send(delivery: ClaimedDelivery, claimStartedAt: number): void;
}

/** A claimed delivery that a burst sends. */
interface Sending {
  readonly delivery: ClaimedDelivery;
  /** By `performance.now()`, right before the claim. */
  readonly claimStartedAt: number;
  readonly inFlight: InFlight;
}

export interface BurstOptions {
  /** Aborted when an operator cancels: requests in flight are aborted. */
  readonly cancelled: AbortSignal;
  /** Aborted when the worker stops: nothing more is taken, and what is in flight ends. */
  readonly stopping: AbortSignal;
  /** Repeats database work while the database is away. */
  readonly retryWhileDatabaseIsAway: <Result>(work: () => Promise<Result>) => Promise<Result>;
  readonly onProgress: (result: DeliverBurstResult) => void;
}

export interface Bursts {
  /** The burst that takes new claims. */
  accepting(): OpenBurst | undefined;
  /**
   * Takes deliveries for a minute, or until a second passes without one, and returns once each is recorded or free.
   * @throws the reason of `cancelled`; its deliveries are free then
   */
  run(burstId: BurstId, options: BurstOptions): Promise<DeliverBurstResult>;
}

export interface BurstsDependencies extends AttemptDependencies {
  readonly capacity: Capacity;
  readonly known: KnownEndpoints;
  readonly suspects: Pick<Suspects, 'delivered'>;
  /** Called when there may be capacity again. */
  readonly wake: () => void;
  readonly onError: (error: unknown, delivery: ClaimedDelivery) => void;
}

export function createBursts(dependencies: BurstsDependencies): Bursts {
  const {
    db,
    capacity,
    known,
    suspects,
    paces,
    wake,
    onUnreadable,
    onAttemptBegan,
    onAttemptEnded,
    onError,
  } = dependencies;
  const open = new Set<OpenBurst>();

  async function run(burstId: BurstId, options: BurstOptions): Promise<DeliverBurstResult> {
    const { cancelled, stopping, retryWhileDatabaseIsAway, onProgress } = options;
    const holder: Holder = { kind: 'burst', burstId };
    const result = { ...NOTHING_SENT };
    const underWay = new Set<Promise<unknown>>();
    /** Given to this burst, and not recorded. */
    const given = new Set<DeliveryId>();
    let isClaimLost = false;
    let usedAt = performance.now();

    const begin = createBatcher((starts: readonly AttemptStart[]) =>
      retryWhileDatabaseIsAway(() => beginAttempts(db, holder, starts)),
    );
    /** A received response is recorded even when an operator cancels meanwhile. */
    const record = async (attempts: readonly RecordedAttempt[]) => {
      const write = () => recordAttempts(db, attempts);
      await retryWhileDatabaseIsAway(write).catch((error: unknown) => {
        if (!cancelled.aborted) throw error;
        return write();
      });
      return attempts;
    };
    const recordTogether = createBatcher(record);

    async function attempt({ delivery, claimStartedAt, inFlight }: Sending): Promise<AttemptResult> {
      const { id: deliveryId, stored, token } = delivery;
      const number = delivery.attempts + 1;
      let isBegun = true;
      /** The claim has begun it. A redirect, or a claim too old, is confirmed by the database. */
      const beginOnce = async (start: AttemptStart): Promise<Begun> => {
        const isFresh = isBegun && performance.now() - claimStartedAt < DECISION_MS;
        isBegun = false;
        return isFresh ? { kind: 'begun', stored } : begin(start);
      };
      onAttemptBegan(number, delivery.createdAt);
      let well = false;
      try {
        const request = { ...delivery, deliveryId, signal: cancelled };
        const made = await makeAttempt(dependencies, request, number, beginOnce, token ?? undefined);
        well = made.kind === 'made' && made.record.verdict !== 'retry';
        // Before the receiver has room again: after a refusal nothing more is claimed.
        if (made.kind === 'made') paces.attemptEnded(delivery, made);
        return made;
      } finally {
        // The receiver's capacity is free as soon as it has responded.
        capacity.ended(inFlight, well);
        usedAt = performance.now();
        wake();
      }
    }

    async function deliver(sending: Sending): Promise<void> {
      const { delivery } = sending;
      const { id: deliveryId, endpointId, workspaceId } = delivery;
      const made = await attempt(sending);
      if (made.kind === 'unreadable') {
        onUnreadable(endpointId, made.stored);
        await retryWhileDatabaseIsAway(() => takeBack(db, holder, made.start));
        given.delete(deliveryId);
        result.freed += 1;
        return;
      }
      if (made.kind !== 'made') {
        if (made.kind === 'stopped' && made.reason === ENDPOINT_DISABLED) {
          await retryWhileDatabaseIsAway(() => endOne(db, deliveryId, ENDPOINT_DISABLED, isHeldBy(burstId)));
        }
        result.stopped += 1;
        return;
      }
      const { verdict, number } = made.record;
      onAttemptEnded({ ...made.record, endpointId, workspaceId });
      const attempted = { ...made.record, deliveryId, endedAt: performance.now() };
      // An outcome that Postgres refuses must not fail the others of its batch.
      await recordTogether(attempted).catch(() => record([attempted]));
      given.delete(deliveryId);
      if (verdict === 'retry' && number < MAX_ATTEMPTS) {
        result.toRetry += 1;
        known.willBeDue(endpointId, workspaceId, performance.now() + waitAfter(number));
        wake();
      } else result[verdict === 'succeeded' ? 'succeeded' : 'failed'] += 1;
      if (verdict === 'succeeded' && delivery.lostAt !== null) suspects.delivered(delivery.lostAt);
    }

    const burst = (closesAt: number): OpenBurst => ({
      id: burstId,
      closesAt,
      awaits(claim) {
        // Removed only after the awaiting caller has handed over the claimed deliveries.
        const one = claim
          .catch(() => {
            isClaimLost = true;
          })
          .finally(() => underWay.delete(one));
        underWay.add(one);
      },
      send(delivery, claimStartedAt) {
        usedAt = performance.now();
        given.add(delivery.id);
        const inFlight = capacity.began(delivery.endpointId, delivery.workspaceId);
        const one = deliver({ delivery, claimStartedAt, inFlight })
          .catch((error: unknown) => {
            if (!cancelled.aborted) onError(error, delivery);
          })
          .finally(() => underWay.delete(one));
        underWay.add(one);
      },
    });

    if (!(await retryWhileDatabaseIsAway(() => openBurst(db, burstId)))) {
      // An earlier execution of this burst may still live. The burst is over, and its begun attempts are taken back.
      return { ...result, freed: await retryWhileDatabaseIsAway(() => freeBurst(db, burstId)) };
    }
    const opened = burst(performance.now() + OPEN_MS);
    try {
      open.add(opened);
      wake();
      const either = AbortSignal.any([cancelled, stopping]);
      while (!either.aborted && performance.now() < opened.closesAt) {
        if (underWay.size === 0 && performance.now() - usedAt > IDLE_MS) break;
        await pause(LOOK_MS, either);
        onProgress(result);
      }
    } finally {
      open.delete(opened);
      while (underWay.size > 0) {
        await Promise.all(underWay);
        onProgress(result);
      }
    }
    cancelled.throwIfAborted();
    result.freed += await retryWhileDatabaseIsAway(() => freeBurst(db, burstId, { given, isClaimLost }));
    wake();
    return result;
  }

  return { accepting: () => open.values().next().value, run };
}

/** @returns false when the burst is, or was just now, open already */
async function openBurst(db: Database, burstId: BurstId): Promise<boolean> {
  const { numAffectedRows } = await sql`
    INSERT INTO webhook_bursts (id) VALUES (${burstId}) ON CONFLICT DO NOTHING`.execute(db);
  return numAffectedRows === 1n;
}
