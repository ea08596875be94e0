import { ServiceError } from '../errors.ts';
import type { ApiKeyId, WorkspaceId } from '../ids.ts';
import { type HttpLimits, type RequestLimits, requestLimits } from './limits.ts';
import { createTokenBuckets, type TokenBuckets } from './token-buckets.ts';

const WINDOW_SECONDS = 60;
/** Bytes of a body that count as one more request. */
const BYTES_PER_POINT = 64 * 1024;

/** Headers that show a client its remaining limits. */
export type LimitHeaders = Record<string, string>;

/** A bucket that counts a request. */
interface Limit {
  readonly name: string;
  readonly buckets: TokenBuckets;
  readonly key: string;
  readonly quota: number;
  /** Tokens in it when it was last looked up. */
  readonly left: number;
}

const limitOf = (name: string, buckets: TokenBuckets, key: string, quota: number): Limit => ({
  name,
  buckets,
  key,
  quota,
  left: buckets.left(key, quota),
});

/** The bucket after so many tokens were taken. */
const takeFrom = (limit: Limit, tokens: number): Limit => ({
  ...limit,
  left: limit.buckets.take(limit.key, limit.quota, tokens),
});

/** Seconds until the bucket holds so many tokens. */
const secondsUntil = ({ left, quota }: Limit, tokens: number): number =>
  Math.max(1, Math.ceil(((tokens - left) * WINDOW_SECONDS) / quota));

/**
 * `RateLimit-Policy` and `RateLimit` as draft-ietf-httpapi-ratelimit-headers writes them (lists of items): `t` is the time
 * until the bucket is full.
 */
function writeHeaders(headers: LimitHeaders, limits: readonly Limit[]): void {
  headers['RateLimit-Policy'] = limits
    .map(({ name, quota }) => `"${name}";q=${quota};w=${WINDOW_SECONDS}`)
    .join(', ');
  headers.RateLimit = limits
    .map((limit) => `"${limit.name}";r=${Math.floor(limit.left)};t=${secondsUntil(limit, limit.quota)}`)
    .join(', ');
}

/**
 * Takes tokens from all buckets, or from none.
 * @param costOf tokens for a bucket of this quota
 * @param again tokens that a repeated request takes before these
 * @returns the bucket that holds too few, or null
 */
function take(
  headers: LimitHeaders,
  limits: readonly Limit[],
  costOf: (quota: number) => number,
  again = 0,
): Limit | null {
  const short = limits.filter(({ left, quota }) => left < costOf(quota));
  const after = short.length > 0 ? limits : limits.map((limit) => takeFrom(limit, costOf(limit.quota)));
  if (after.length > 0) writeHeaders(headers, after);
  const waits = short.map((limit) => secondsUntil(limit, costOf(limit.quota) + again));
  if (waits.length > 0) headers['Retry-After'] = String(Math.max(...waits));
  return short[0] ?? null;
}

const exceeded = ({ quota }: Limit, what: string): ServiceError =>
  new ServiceError(
    'RATE_LIMITED',
    `More than ${quota} requests a minute ${what}. Retry after Retry-After seconds.`,
  );

/**
 * The limits of this process (contract.md A9), counted in its memory: n processes allow n times as much. Every method but
 * `hasFailedOften` writes the response's headers into `headers`.
 */
export interface RateLimiter {
  /** Whether the address has used up its failed authentications. */
  readonly hasFailedOften: (address: string) => boolean;
  /** Counts a failed authentication. */
  readonly recordFailure: (address: string, headers: LimitHeaders) => void;
  /** The refusal of an address that failed too often. */
  readonly tooManyFailures: (address: string, headers: LimitHeaders) => ServiceError;
  /** Counts a request without a key. @throws {ServiceError} RATE_LIMITED */
  readonly consumeAddress: (address: string, headers: LimitHeaders) => void;
  /** Counts a request. @throws {ServiceError} RATE_LIMITED */
  readonly consume: (caller: Caller, headers: LimitHeaders) => void;
  /** Counts a request's body: one more per 64 KiB (contract.md A18). @throws {ServiceError} RATE_LIMITED */
  readonly charge: (caller: Caller, bytes: number, headers: LimitHeaders) => void;
}

interface Caller extends RequestLimits {
  readonly keyId: ApiKeyId;
  readonly workspaceId: WorkspaceId;
}

/** @param now milliseconds of a steady clock */
export function createRateLimiter(limits: HttpLimits, now?: () => number): RateLimiter {
  const perAddress = createTokenBuckets(now);
  const perKey = createTokenBuckets(now);
  const perWorkspace = createTokenBuckets(now);
  const failed = createTokenBuckets(now);
  const failures = (address: string): Limit => limitOf('auth-failures', failed, address, limits.authFailures);

  const limitsOf = (caller: Caller): Limit[] => {
    const { key, workspace } = requestLimits(limits, caller);
    return [
      ...(key === 0 ? [] : [limitOf('key', perKey, caller.keyId, key)]),
      ...(workspace === 0 ? [] : [limitOf('workspace', perWorkspace, caller.workspaceId, workspace)]),
    ];
  };

  return {
    hasFailedOften: (address) => limits.authFailures > 0 && failures(address).left < 1,
    recordFailure: (address, headers) => {
      if (limits.authFailures === 0) return;
      writeHeaders(headers, [takeFrom(failures(address), 1)]);
    },
    tooManyFailures: (address, headers) => {
      const limit = failures(address);
      writeHeaders(headers, [limit]);
      headers['Retry-After'] = String(secondsUntil(limit, 1));
      return new ServiceError('RATE_LIMITED', 'Too many failed authentications from this address.');
    },
    consumeAddress: (address, headers) => {
      if (limits.perAddress === 0) return;
      const limit = limitOf('address', perAddress, address, limits.perAddress);
      if (take(headers, [limit], () => 1) !== null) throw exceeded(limit, 'without a key from this address');
    },
    consume: (caller, headers) => {
      const short = take(headers, limitsOf(caller), () => 1);
      if (short !== null) throw exceeded(short, `for this ${short.name}`);
    },
    charge: (caller, bytes, headers) => {
      const points = Math.floor(bytes / BYTES_PER_POINT);
      if (points === 0) return;
      // A body that costs more than the quota needs a full bucket, the token of its request included.
      const short = take(headers, limitsOf(caller), (quota) => Math.min(points, quota - 1), 1);
      if (short !== null) throw exceeded(short, `for this ${short.name}`);
    },
  };
}
