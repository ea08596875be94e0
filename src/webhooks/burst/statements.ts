import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';
import type { BurstId, DeliveryId } from '../../ids.ts';
import { type DeliveryOutcome, recordAttempts } from '../attempts/record.ts';
import { createBatcher } from './batcher.ts';
import { type Beginning, beginAttempts } from './begin.ts';

/** Between two looks at a row that somebody holds. */
const LOCKED_MS = 50;

export interface BurstStatementOptions {
  readonly db: Database;
  readonly burstId: BurstId;
  readonly cancelled: AbortSignal;
  /** Repeats database work while the database is away. */
  readonly retryWhileDatabaseIsAway: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** What each attempt of a burst asks and tells the database, in statements that attempts share. */
export interface BurstStatements {
  /** The last look before the request is written, which marks the attempt as begun. */
  begin(deliveryId: DeliveryId): Promise<Exclude<Beginning, { kind: 'locked' }>>;
  /** Records an outcome; a delivery with attempts left is in the outbox again when this resolves. */
  record(outcome: DeliveryOutcome): Promise<void>;
}

export function createBurstStatements(options: BurstStatementOptions): BurstStatements {
  const { db, burstId, cancelled, retryWhileDatabaseIsAway } = options;

  /** What the wire has answered is recorded even when an operator cancels meanwhile. */
  async function answered<Result>(write: () => Promise<Result>): Promise<Result> {
    try {
      return await retryWhileDatabaseIsAway(write);
    } catch (error) {
      if (!cancelled.aborted) throw error;
      return write();
    }
  }

  const beginTogether = createBatcher((ids: readonly DeliveryId[]) =>
    retryWhileDatabaseIsAway(() => beginAttempts(db, burstId, ids)),
  );
  const recordTogether = createBatcher(async (outcomes: readonly DeliveryOutcome[]) => {
    const recorded = await answered(() => recordAttempts(db, outcomes, 'outbox', 'skip'));
    return outcomes.map(({ deliveryId }) => recorded.has(deliveryId));
  });
  /** One after the other: each may wait for a lock, and they should not wait on all connections. */
  const recordAlone = createBatcher(async (outcomes: readonly DeliveryOutcome[]) => {
    await answered(() => recordAttempts(db, outcomes, 'outbox', 'wait'));
    return outcomes;
  }, 1);

  return {
    async begin(deliveryId) {
      for (;;) {
        const beginning = await beginTogether(deliveryId);
        if (beginning.kind !== 'locked') return beginning;
        await sleep(LOCKED_MS, undefined, { signal: cancelled });
      }
    },
    async record(outcome) {
      // One outcome that Postgres refuses must not take the others' with it.
      const recorded = await recordTogether(outcome).catch((error: unknown) => {
        if (cancelled.aborted) throw error;
        return false;
      });
      if (!recorded) await recordAlone(outcome);
    },
  };
}
