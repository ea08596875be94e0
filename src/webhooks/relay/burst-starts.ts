import type { Logger } from 'pino';
import { type BurstId, newId } from '../../ids.ts';
import type { OpenBurst } from './bursts.ts';

/** A few unclaimed due deliveries wait this long before a burst is started. */
const UNCLAIMED_MS = 100;
/** And this long while another opens, or after a start that failed. */
const RETRY_MS = 500;
/** A burst that is in use gets its successor this long before it closes, so that nothing waits in between. */
const SUCCESSOR_MS = 2_000;
/** Bursts that this relay has started and that have not ended. */
const MAX_STARTED = 2;

/** What a claim left, although the receivers have room. */
export interface Unclaimed {
  readonly some: boolean;
  /** More than may get runs. */
  readonly many: boolean;
}

export interface BurstStarts {
  /**
   * Starts a burst where one is needed.
   * @param burst the one that takes claims here, if any, and whether the claim gave it something
   */
  consider(
    left: Unclaimed,
    burst: { readonly open: OpenBurst | undefined; readonly isUsed: boolean },
    now: number,
  ): void;
  /** Whether a burst started here does not take claims yet. */
  readonly isOpening: boolean;
  /** When to consider it again, unless something else happens before. */
  dueAt(): number;
}

export interface BurstStartsOptions {
  /** Starts a burst, and resolves when it has ended. */
  readonly run: (id: BurstId) => Promise<void>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Called when a burst has ended, or could not be started. */
  readonly onEnded: () => void;
}

/**
 * Each burst that this relay starts is `opening` until it takes claims here, then open, at last closed while its last
 * attempts end; another worker may have it instead. One is started
 * - at once for more than may get runs, unless one is opening;
 * - for a few that were left for 100 ms, or for half a second while one is opening;
 * - before the present one closes, while that is in use.
 */
export function createBurstStarts({ run, logger, signal, onEnded }: BurstStartsOptions): BurstStarts {
  const opening = new Set<BurstId>();
  let started = 0;
  let unclaimedSince: number | null = null;
  let notBefore = 0;

  const patience = () => (opening.size === 0 ? UNCLAIMED_MS : RETRY_MS);

  async function untilEnded(burstId: BurstId): Promise<void> {
    try {
      await run(burstId);
    } catch (error) {
      if (signal.aborted) return;
      notBefore = performance.now() + RETRY_MS;
      logger.warn({ err: error, burstId }, 'burst not started yet');
    } finally {
      opening.delete(burstId);
      started -= 1;
      onEnded();
    }
  }

  function start(now: number): void {
    const burstId = newId<BurstId>();
    started += 1;
    opening.add(burstId);
    if (unclaimedSince !== null) unclaimedSince = now;
    void untilEnded(burstId);
  }

  return {
    consider({ some, many }, { open, isUsed }, now) {
      if (open !== undefined) opening.delete(open.id);
      unclaimedSince = some ? (unclaimedSince ?? now) : null;
      if (started >= MAX_STARTED || now < notBefore) return;
      const isClosing = open !== undefined && isUsed && open.closesAt - now < SUCCESSOR_MS;
      const isLate = unclaimedSince !== null && now - unclaimedSince >= patience();
      if (isLate || ((many || isClosing) && opening.size === 0)) start(now);
    },
    get isOpening() {
      return opening.size > 0;
    },
    dueAt: () =>
      unclaimedSince === null || started >= MAX_STARTED
        ? Number.POSITIVE_INFINITY
        : Math.max(unclaimedSince + patience(), notBefore),
  };
}
