/**
 * Tokens that can accumulate, so that a few deliveries after a quiet time all get runs. A busy time takes them down to
 * minus as many: runs come back two seconds after it ends, at ten a second.
 */
const MAX_TOKENS = 20;

/** How many deliveries may get runs of their own. Every claimed delivery costs one, in a run or not. */
export interface Tokens {
  /** Whole tokens available now; 0 when there is none. */
  available(now: number): number;
  spend(count: number): void;
}

/** @param perSecond tokens added each second; with 0 there is never one */
export function createTokens(perSecond: number, startedAt: number): Tokens {
  let tokens = perSecond === 0 ? 0 : MAX_TOKENS;
  let filledAt = startedAt;
  return {
    available(now) {
      tokens = Math.min(MAX_TOKENS, tokens + ((now - filledAt) * perSecond) / 1_000);
      filledAt = now;
      return Math.max(0, Math.floor(tokens));
    },
    spend(count) {
      tokens = Math.max(-MAX_TOKENS, tokens - count);
    },
  };
}
