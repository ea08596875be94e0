import type { Database } from '../../db/database.ts';
import type { EndpointId } from '../../ids.ts';
import type { AttemptRecord } from '../../temporal/shapes.ts';
import { createBatcher } from '../attempts/batcher.ts';
import type { AskedSilence } from '../sending/retry-after.ts';
import { refuse } from './refuse.ts';

/** What was accepted counts for this long. */
const WINDOW_MS = 10_000;
/** A refusal holds its endpoint up in this process until it is written, for a second at most. */
const HOLD_MS = 1_000;
/** Endpoints whose accepted requests are counted. */
const MAX_COUNTED = 10_000;

/** Where an attempt went. */
interface Target {
  readonly endpointId: EndpointId;
  /** The pace that it was claimed under; 0 without one. */
  readonly paceEpoch: number;
}

type Refused = Target & AskedSilence;

/** What a process knows of how fast receivers take requests, and its way to slow down. */
export interface Paces {
  /** Counts what was taken. After a refusal nothing more is claimed here until the pace is stored for all. */
  attemptEnded(
    target: Target,
    made: { readonly record: Pick<AttemptRecord, 'verdict'>; readonly silence: AskedSilence | null },
  ): void;
  /** Whether a refusal is not stored yet. */
  isHeld(endpointId: EndpointId): boolean;
}

export interface PacesDependencies {
  readonly db: Database;
  readonly onRefused: () => void;
  /** Called when a pace is stored. */
  readonly onStored: () => void;
  readonly onError: (error: unknown) => void;
}

interface Count {
  requests: number;
  from: number;
}

/** Sums refusals by endpoint, and stores those that arrive together in one statement; a request that is taken costs nothing. */
export function createPaces({ db, onRefused, onStored, onError }: PacesDependencies): Paces {
  const counts = new Map<EndpointId, Count>();
  const held = new Map<EndpointId, number>();

  function counted(endpointId: EndpointId, now: number): Count {
    const count = counts.get(endpointId) ?? { requests: 0, from: now };
    const age = now - count.from;
    if (age > WINDOW_MS) {
      count.requests *= WINDOW_MS / age;
      count.from = now - WINDOW_MS;
    }
    return count;
  }

  const store = createBatcher(async (requests: readonly Refused[]) => {
    const now = performance.now();
    const refusals = [...Map.groupBy(requests, ({ endpointId }) => endpointId)].map(([endpointId, all]) => {
      const epoch = Math.max(...all.map(({ paceEpoch }) => paceEpoch));
      const refused = all.filter(({ paceEpoch }) => paceEpoch === epoch).length;
      const asked = all.flatMap(({ retryAfter }) => retryAfter ?? []);
      const retryAfter = asked.length === 0 ? null : Math.max(...asked);
      const { requests: accepted, from } = counted(endpointId, now);
      return { endpointId, epoch, refused, retryAfter, accepted, active: (now - from) / 1_000 };
    });
    await refuse(db, refusals);
    return requests;
  });

  function accepted(endpointId: EndpointId): void {
    const count = counted(endpointId, performance.now());
    count.requests += 1;
    counts.delete(endpointId);
    counts.set(endpointId, count);
    const [oldest] = counts.keys();
    if (counts.size > MAX_COUNTED && oldest !== undefined) counts.delete(oldest);
  }

  return {
    attemptEnded({ endpointId, paceEpoch }, { record, silence }) {
      if (silence === null) {
        if (record.verdict !== 'retry') accepted(endpointId);
        return;
      }
      onRefused();
      held.set(endpointId, performance.now() + HOLD_MS);
      store({ endpointId, paceEpoch, ...silence }).then(() => {
        held.delete(endpointId);
        onStored();
      }, onError);
    },
    isHeld(endpointId) {
      const until = held.get(endpointId);
      if (until === undefined) return false;
      if (until > performance.now()) return true;
      held.delete(endpointId);
      return false;
    },
  };
}
