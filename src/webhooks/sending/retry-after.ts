import type { SendResult } from './outcome.ts';

/** A receiver has asked for fewer requests. */
export interface AskedSilence {
  /** Whole seconds of its Retry-After; null without one that can be read. */
  readonly retryAfter: number | null;
}

const SECONDS = /^\d{1,9}$/;
/** The longest date of HTTP has 33 characters. */
const MAX_DATE_LENGTH = 40;

/** Seconds until what Retry-After says, a number or a date (RFC 9110, 10.2.3); null when it is neither, or past. */
export function secondsOf(retryAfter: string | null, now: number): number | null {
  if (retryAfter === null || retryAfter.length > MAX_DATE_LENGTH) return null;
  const seconds = SECONDS.test(retryAfter)
    ? Number(retryAfter)
    : Math.ceil((Date.parse(retryAfter) - now) / 1_000);
  return seconds > 0 ? seconds : null;
}

/** Whether a response asks for fewer requests (contract.md W73): a 429, or a 503 with Retry-After. */
export function askedSilence(sent: SendResult, now = Date.now()): AskedSilence | null {
  if (sent.kind !== 'responded') return null;
  const retryAfter = secondsOf(sent.retryAfter, now);
  return sent.status === 429 || (sent.status === 503 && retryAfter !== null) ? { retryAfter } : null;
}
