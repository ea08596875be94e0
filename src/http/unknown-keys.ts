/** Which keys of an address that failed often are looked up. */
import { randomInt } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import { createFairQueue } from '../fair-queue.ts';
import type { LimitHeaders, RateLimiter } from './rate-limits.ts';
import type { Identified, Keys, NamedResource } from './scope.ts';

const HOUR_MS = 3_600_000;
/** Keys remembered. */
const MAX_KEYS = 10_000;
/** Look-ups at once in this process for all addresses that failed often. */
const LOOK_UPS = 2;
const MAX_WAITING = 50;
const WAIT_MS = 1_000;
/** Longest wait that is advised, in seconds: random, so that clients come back one after the other. */
const MAX_RETRY_SECONDS = 5;

/** Remembers up to MAX_KEYS texts with a time; forgets those used longest ago. */
function createMemory() {
  const times = new Map<string, number>();
  return {
    timeOf: (text: string): number | undefined => times.get(text),
    remember: (text: string, time: number): void => {
      times.delete(text);
      times.set(text, time);
      if (times.size <= MAX_KEYS) return;
      for (const [oldest] of times) {
        times.delete(oldest);
        return;
      }
    },
    forget: (text: string): void => void times.delete(text),
  };
}

/** The client of a request, and its response's headers. */
interface Client {
  readonly address: string;
  readonly headers: LimitHeaders;
}

/** Identifies the caller. @throws {ServiceError} UNAUTHENTICATED; RATE_LIMITED */
export type IdentifyClient = (
  client: Client,
  authorization: string | null,
  named: NamedResource,
) => Promise<Identified>;

const isUnauthenticated = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'UNAUTHENTICATED';

/**
 * Identifies callers, with a limit on failures per address (contract.md A30). A key that this process has recognised within
 * an hour is always looked up, so it gets no authority from being remembered. Any other key of an address over the limit is
 * looked up two at a time; a key that was refused and comes back after Retry-After has a line of its own, so that no number
 * of new ones keeps it out.
 */
export function createIdentifyClient(
  keys: Keys,
  limiter: RateLimiter,
  now = () => performance.now(),
): IdentifyClient {
  const recognised = createMemory();
  const refused = createMemory();
  const queue = createFairQueue({
    total: LOOK_UPS,
    perOwner: LOOK_UPS,
    maxWaiting: MAX_WAITING,
    refusal: () => new ServiceError('RATE_LIMITED', 'Too many failed authentications from this address.'),
  });

  const isRecognised = (key: string): boolean =>
    (recognised.timeOf(key) ?? Number.NEGATIVE_INFINITY) > now() - HOUR_MS;

  /** Waits for a look-up. @returns ends it */
  const takeLookUp = async (key: string, { address, headers }: Client): Promise<() => void> => {
    const isBack = (refused.timeOf(key) ?? Number.POSITIVE_INFINITY) <= now();
    try {
      const release = await queue.take(isBack ? 'back' : 'new', { waitMs: WAIT_MS });
      refused.forget(key);
      return release;
    } catch {
      const refusal = limiter.tooManyFailures(address, headers);
      const seconds = randomInt(1, MAX_RETRY_SECONDS + 1);
      refused.remember(key, now() + seconds * 1_000);
      headers['Retry-After'] = String(seconds);
      throw refusal;
    }
  };

  const readHash = (authorization: string | null, { address, headers }: Client): Buffer => {
    try {
      return keys.read(authorization);
    } catch (error) {
      if (!isUnauthenticated(error)) throw error;
      if (limiter.hasFailedOften(address)) throw limiter.tooManyFailures(address, headers);
      limiter.recordFailure(address, headers);
      throw error;
    }
  };

  return async (client, authorization, named) => {
    const hash = readHash(authorization, client);
    const key = hash.toString('base64');
    const mustWait = !isRecognised(key) && limiter.hasFailedOften(client.address);
    const endLookUp = mustWait ? await takeLookUp(key, client) : undefined;
    try {
      const identified = await keys.find(hash, named);
      recognised.remember(key, now());
      return identified;
    } catch (error) {
      if (isUnauthenticated(error)) {
        recognised.forget(key);
        limiter.recordFailure(client.address, client.headers);
      }
      throw error;
    } finally {
      endLookUp?.();
    }
  };
}
