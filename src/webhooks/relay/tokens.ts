/** Tokens that can accumulate, so that a few deliveries after a quiet time all get runs. */
const MAX_TOKENS = 20;
/** While as many runs wait for their first attempt as this time adds tokens, none is started: Temporal does not keep up. */
const WAIT_MS = 200;

/** How many deliveries may get runs of their own: each costs one. */
export interface Tokens {
  /** Whole tokens now; 0 while too many runs are `waiting` for their first attempt. */
  available(now: number, waiting: number): number;
  spend(): void;
}

/** @param perSecond tokens added each second; with 0 there is never one */
export function createTokens(perSecond: number, startedAt: number): Tokens {
  let tokens = perSecond === 0 ? 0 : MAX_TOKENS;
  let filledAt = startedAt;
  return {
    available(now, waiting) {
      tokens = Math.min(MAX_TOKENS, tokens + ((now - filledAt) * perSecond) / 1_000);
      filledAt = now;
      return waiting * 1_000 < perSecond * WAIT_MS ? Math.floor(tokens) : 0;
    },
    spend() {
      tokens -= 1;
    },
  };
}
