import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { BurstId, DeliveryId } from '../../ids.ts';
import { pause } from '../../pause.ts';
import type { DeliverBurstResult } from '../../temporal/shapes.ts';
import { type AttemptDependencies, type AttemptResult, makeAttempt } from '../attempts/attempt.ts';
import { createBatcher } from '../attempts/batcher.ts';
import { MAX_ATTEMPTS, waitAfter } from '../attempts/schedule.ts';
import { type AttemptStart, type Begun, beginAttempts } from '../deliveries/begin.ts';
import { endOne, freeBurst } from '../deliveries/end.ts';
import { type RecordedAttempt, recordAttempts } from '../deliveries/record.ts';
import { ENDPOINT_DISABLED, type Holder, isHeldBy } from '../deliveries/states.ts';
import { DECISION_MS } from '../sending/sender.ts';
import type { Capacity } from './capacity.ts';
import type { ClaimedDelivery } from './claim.ts';
import type { KnownEndpoints } from './known-endpoints.ts';

/** How long a burst takes deliveries. */
const OPEN_MS = 60_000;
/** It ends when there has been nothing to send for this long. */
const IDLE_MS = 1_000;
const LOOK_MS = 100;

/** The result of a burst that has sent nothing. */
export const NOTHING_SENT: DeliverBurstResult = { succeeded: 0, toRetry: 0, failed: 0, stopped: 0, freed: 0 };

/** A burst of this process that takes deliveries. */
export interface OpenBurst {
  readonly id: BurstId;
  /** Tells of a claim for it: the burst does not end before what that takes has been sent. */
  awaits(claim: Promise<unknown>): void;
  /** Sends one that was claimed for it. @param askedAt by `performance.now()`, right before the claim */
  send(delivery: ClaimedDelivery, askedAt: number): void;
}

export interface BurstOptions {
  /** Aborted when an operator cancels: requests in flight are given up. */
  readonly cancelled: AbortSignal;
  /** Aborted when the worker stops: nothing more is taken, and what is in flight ends. */
  readonly stopping: AbortSignal;
  /** Repeats database work while the database is away. */
  readonly retryWhileDatabaseIsAway: <Result>(work: () => Promise<Result>) => Promise<Result>;
  readonly onProgress: (result: DeliverBurstResult) => void;
}

export interface Bursts {
  /** The one that takes what is claimed now. */
  accepting(): OpenBurst | undefined;
  /**
   * Takes deliveries for a minute, or until there was nothing for a second, and returns when each is recorded or free
   * again.
   * @throws the reason of `cancelled`; what it had is free then
   */
  run(burstId: BurstId, options: BurstOptions): Promise<DeliverBurstResult>;
}

export interface BurstsDependencies extends AttemptDependencies {
  readonly capacity: Capacity;
  readonly known: KnownEndpoints;
  /** There may be room for more. */
  readonly wake: () => void;
  readonly onError: (error: unknown, delivery: ClaimedDelivery) => void;
}

export function createBursts(dependencies: BurstsDependencies): Bursts {
  const { db, sender, capacity, known, wake, onAttemptBegan, onAttemptEnded, onError } = dependencies;
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
    /** What the wire has answered is recorded even when an operator cancels meanwhile. */
    const record = async (attempts: readonly RecordedAttempt[]) => {
      const write = () => recordAttempts(db, attempts);
      await retryWhileDatabaseIsAway(write).catch((error: unknown) => {
        if (!cancelled.aborted) throw error;
        return write();
      });
      return attempts;
    };
    const recordTogether = createBatcher(record);

    async function attempt(delivery: ClaimedDelivery, askedAt: number): Promise<AttemptResult> {
      const { id: deliveryId, endpointId, workspaceId, secret, token } = delivery;
      const number = delivery.attempts + 1;
      let isBegun = true;
      /** The claim has begun it. For a redirect, and after a while, the database is asked again. */
      const beginOnce = async (start: AttemptStart): Promise<Begun> => {
        const isFresh = isBegun && performance.now() - askedAt < DECISION_MS;
        isBegun = false;
        return isFresh ? { kind: 'begun', secret } : begin(start);
      };
      onAttemptBegan(number, delivery.createdAt);
      let well = false;
      try {
        const request = { ...delivery, deliveryId, signal: cancelled };
        const made = await makeAttempt(sender, request, number, beginOnce, token ?? undefined);
        well = made.kind === 'made' && made.record.verdict !== 'retry';
        return made;
      } finally {
        // The place at the receiver is free as soon as it has answered.
        capacity.ended(endpointId, workspaceId, well);
        usedAt = performance.now();
        wake();
      }
    }

    async function deliver(delivery: ClaimedDelivery, askedAt: number): Promise<void> {
      const { id: deliveryId, endpointId, workspaceId } = delivery;
      const made = await attempt(delivery, askedAt);
      if (made.kind !== 'made') {
        if (made.kind === 'stopped' && made.reason === ENDPOINT_DISABLED) {
          await retryWhileDatabaseIsAway(() => endOne(db, deliveryId, ENDPOINT_DISABLED, isHeldBy(burstId)));
        }
        result.stopped += 1;
        return;
      }
      const { verdict, number } = made.record;
      onAttemptEnded(verdict, number);
      const attempted = { ...made.record, deliveryId, endedAt: performance.now() };
      // One outcome that Postgres refuses must not take the others' with it.
      await recordTogether(attempted).catch(() => record([attempted]));
      given.delete(deliveryId);
      if (verdict === 'retry' && number < MAX_ATTEMPTS) {
        result.toRetry += 1;
        known.willBeDue(endpointId, workspaceId, performance.now() + waitAfter(number));
        wake();
      } else result[verdict === 'succeeded' ? 'succeeded' : 'failed'] += 1;
    }

    const burst: OpenBurst = {
      id: burstId,
      awaits(claim) {
        // It is there until after whoever awaits the claim has handed over what it took.
        const one = claim
          .catch(() => {
            isClaimLost = true;
          })
          .finally(() => underWay.delete(one));
        underWay.add(one);
      },
      send(delivery, askedAt) {
        usedAt = performance.now();
        given.add(delivery.id);
        capacity.began(delivery.endpointId, delivery.workspaceId);
        const one = deliver(delivery, askedAt)
          .catch((error: unknown) => {
            if (!cancelled.aborted) onError(error, delivery);
          })
          .finally(() => underWay.delete(one));
        underWay.add(one);
      },
    };

    if (!(await retryWhileDatabaseIsAway(() => openBurst(db, burstId)))) {
      // A burst that is run anew beside an execution that may live is over, and what that one has begun is spent.
      return { ...result, freed: await retryWhileDatabaseIsAway(() => freeBurst(db, burstId)) };
    }
    try {
      open.add(burst);
      wake();
      const openedAt = performance.now();
      const either = AbortSignal.any([cancelled, stopping]);
      while (!either.aborted && performance.now() - openedAt < OPEN_MS) {
        if (underWay.size === 0 && performance.now() - usedAt > IDLE_MS) break;
        await pause(LOOK_MS, either);
        onProgress(result);
      }
    } finally {
      open.delete(burst);
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

/** @returns false when it is open already, or was a moment ago */
async function openBurst(db: Database, burstId: BurstId): Promise<boolean> {
  const { numAffectedRows } = await sql`
    INSERT INTO webhook_bursts (id) VALUES (${burstId}) ON CONFLICT DO NOTHING`.execute(db);
  return numAffectedRows === 1n;
}
