import type { BurstId } from '../../ids.ts';

/** A burst that nobody has heard of for so long claims no more. */
const EXPECTED_MS = 10_000;
/** For so long after a burst, what is left or comes in goes through the next one. */
const LINGER_MS = 500;

/** What a process knows of the bursts that claim from the outbox at this moment, its own and others'. */
export interface BurstTracker {
  /** A burst was started by this process, or is heard to claim. */
  claiming(burstId: BurstId, whose: 'own' | 'other'): void;
  /**
   * It takes nothing more out of the outbox; what it has may still be under way. After a lull, what comes next gets
   * runs of its own.
   */
  claimed(burstId: BurstId, notice: 'claimed' | 'lull'): void;
  /** It could not be started. */
  abandoned(burstId: BurstId): void;
  /** Bursts that this process started and that still claim. */
  own(): number;
  /** Whether any burst claims, or did a moment ago. */
  isOn(): boolean;
  /** Called when one has claimed what it will: the place for the next one is free. */
  onClaimed: () => void;
}

export function createBurstTracker(): BurstTracker {
  const bursts = new Map<BurstId, { whose: 'own' | 'other'; until: number }>();
  let lingersUntil = 0;
  const forgetExpired = (): void => {
    const now = performance.now();
    for (const [id, { until }] of bursts) if (until <= now) bursts.delete(id);
  };
  const tracker: BurstTracker = {
    onClaimed: () => undefined,
    claiming(burstId, whose) {
      const known = bursts.get(burstId);
      bursts.set(burstId, { whose: known?.whose ?? whose, until: performance.now() + EXPECTED_MS });
    },
    claimed(burstId, notice) {
      if (!bursts.delete(burstId)) return;
      if (notice === 'claimed') lingersUntil = performance.now() + LINGER_MS;
      tracker.onClaimed();
    },
    abandoned(burstId) {
      bursts.delete(burstId);
    },
    own() {
      forgetExpired();
      return [...bursts.values()].filter(({ whose }) => whose === 'own').length;
    },
    isOn() {
      forgetExpired();
      return bursts.size > 0 || performance.now() < lingersUntil;
    },
  };
  return tracker;
}
