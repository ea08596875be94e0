/**
 * Tokens that may wait, so that a few deliveries at once after a quiet time all get runs. A busy time takes them down to
 * minus as many: runs come back two seconds, at ten a second, after it ends.
 */
const MOST = 20;

/** How many deliveries may get runs of their own. Every delivery that is claimed costs one, whichever way it goes. */
export interface Tokens {
  /** Whole tokens that are there now; 0 when none is. */
  available(now: number): number;
  spend(count: number): void;
}

/** @param perSecond tokens that come in each second; with 0 there is never one */
export function createTokens(perSecond: number, startedAt: number): Tokens {
  let tokens = perSecond === 0 ? 0 : MOST;
  let filledAt = startedAt;
  return {
    available(now) {
      tokens = Math.min(MOST, tokens + ((now - filledAt) * perSecond) / 1_000);
      filledAt = now;
      return Math.max(0, Math.floor(tokens));
    },
    spend(count) {
      tokens = Math.max(-MOST, tokens - count);
    },
  };
}
