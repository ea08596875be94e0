/** Bounds of the calls for a part of an article, over all attempts (contract.md G78). */

/** Calls with a response. */
export const MAX_ANSWERED = 3;
/** Calls without a whole response: the request was written, so the model may have worked. */
export const MAX_UNANSWERED = 6;

/** The longest call, in milliseconds. */
export const CALL_MS = 600_000;
/** What an attempt has besides its calls: to wait for the database, and to store what was written. */
const STORING_MS = 300_000;
/** The longest attempt: a call without a response ends it. */
export const PART_MS = MAX_ANSWERED * CALL_MS + STORING_MS;
