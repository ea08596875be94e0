import { unavailable } from '../errors.ts';

const MAX_ATTEMPTS = 5;

/** What an attempt returns when the article is another one by now than when its transaction was prepared. */
export const CHANGED = Symbol('changed');

/**
 * Repeats work that is prepared before its transaction, so that no lock waits for it, and wasted when the article has
 * changed in between.
 * @throws {ServiceError} SERVICE_UNAVAILABLE when it had changed each time
 */
export async function retryingChanged<Result>(
  attempt: () => Promise<Result | typeof CHANGED>,
): Promise<Result> {
  for (let left = MAX_ATTEMPTS; left > 0; left -= 1) {
    const result = await attempt();
    if (result !== CHANGED) return result;
  }
  throw unavailable('contention', 'The article keeps changing. Try again shortly.');
}
