import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ServiceError } from '../errors.ts';
import type { ApiKeyId, WorkspaceId } from '../ids.ts';
import type { HttpLimits } from './limits.ts';

const WINDOW_SECONDS = 60;
/** Bytes of a body that count as one more request. */
const BYTES_PER_POINT = 64 * 1024;

/** Headers that show a client its remaining limits. */
export type LimitHeaders = Record<string, string>;

interface Policy {
  readonly name: string;
  readonly quota: number;
  readonly limiter: RateLimiterMemory;
}

const createPolicy = (name: string, quota: number): Policy | null =>
  quota === 0
    ? null
    : {
        name,
        quota,
        limiter: new RateLimiterMemory({ keyPrefix: name, points: quota, duration: WINDOW_SECONDS }),
      };

interface Count {
  readonly policy: Policy;
  readonly state: RateLimiterRes;
  readonly exceeded: boolean;
}

async function consume(policy: Policy, key: string, points: number): Promise<Count> {
  try {
    return { policy, state: await policy.limiter.consume(key, points), exceeded: false };
  } catch (state) {
    if (state instanceof RateLimiterRes) return { policy, state, exceeded: true };
    throw state;
  }
}

const secondsLeft = ({ state }: Count): number => Math.max(1, Math.ceil(state.msBeforeNext / 1000));

/** `RateLimit-Policy` and `RateLimit` as draft-ietf-httpapi-ratelimit-headers writes them (lists of items). */
function writeHeaders(headers: LimitHeaders, counts: readonly Count[]): void {
  headers['RateLimit-Policy'] = counts
    .map(({ policy }) => `"${policy.name}";q=${policy.quota};w=${WINDOW_SECONDS}`)
    .join(', ');
  headers.RateLimit = counts
    .map(
      (count) =>
        `"${count.policy.name}";r=${Math.max(0, count.state.remainingPoints)};t=${secondsLeft(count)}`,
    )
    .join(', ');
  const exceeded = counts.find((count) => count.exceeded);
  if (exceeded !== undefined) headers['Retry-After'] = String(secondsLeft(exceeded));
}

/**
 * The limits of this process, counted in its memory: n processes allow n times as much. Every method writes the
 * response's headers into `headers`.
 */
export interface RateLimiter {
  /** @throws {ServiceError} RATE_LIMITED after too many failed authentications of the address */
  readonly checkAddress: (address: string, headers: LimitHeaders) => Promise<void>;
  /** Counts a failed authentication. */
  readonly recordFailure: (address: string, headers: LimitHeaders) => Promise<void>;
  /** Counts a request without a key. @throws {ServiceError} RATE_LIMITED */
  readonly consumeAddress: (address: string, headers: LimitHeaders) => Promise<void>;
  /** Counts a request. @throws {ServiceError} RATE_LIMITED */
  readonly consume: (caller: Caller, headers: LimitHeaders) => Promise<void>;
  /** Counts a request's body: one more per 64 KiB. @throws {ServiceError} RATE_LIMITED */
  readonly charge: (caller: Caller, bytes: number, headers: LimitHeaders) => Promise<void>;
}

interface Caller {
  readonly keyId: ApiKeyId;
  readonly workspaceId: WorkspaceId;
}

export function createRateLimiter(limits: HttpLimits): RateLimiter {
  const failures = createPolicy('auth-failures', limits.authFailures);
  const perAddress = createPolicy('address', limits.perAddress);
  const perKey = createPolicy('key', limits.perKey);
  const perWorkspace = limits.perKey === 0 ? null : createPolicy('workspace', limits.perWorkspace);

  const count = async (
    { keyId, workspaceId }: Caller,
    points: (quota: number) => number,
    headers: LimitHeaders,
  ): Promise<void> => {
    const counts: Count[] = [];
    if (perKey !== null) counts.push(await consume(perKey, keyId, points(perKey.quota)));
    if (perWorkspace !== null && !counts.some(({ exceeded }) => exceeded)) {
      counts.push(await consume(perWorkspace, workspaceId, points(perWorkspace.quota)));
    }
    if (counts.length === 0) return;
    writeHeaders(headers, counts);
    const exceeded = counts.find((one) => one.exceeded);
    if (exceeded === undefined) return;
    throw new ServiceError(
      'RATE_LIMITED',
      `More than ${exceeded.policy.quota} requests a minute for this ${exceeded.policy.name}. Retry after Retry-After seconds.`,
    );
  };

  return {
    checkAddress: async (address, headers) => {
      const state = await failures?.limiter.get(address);
      if (failures === null || state === null || state === undefined) return;
      if (state.consumedPoints < failures.quota) return;
      writeHeaders(headers, [{ policy: failures, state, exceeded: true }]);
      throw new ServiceError('RATE_LIMITED', 'Too many failed authentications from this address.');
    },
    recordFailure: async (address, headers) => {
      if (failures !== null) writeHeaders(headers, [await consume(failures, address, 1)]);
    },
    consumeAddress: async (address, headers) => {
      if (perAddress === null) return;
      const counted = await consume(perAddress, address, 1);
      writeHeaders(headers, [counted]);
      if (!counted.exceeded) return;
      throw new ServiceError(
        'RATE_LIMITED',
        `More than ${perAddress.quota} requests a minute without a key from this address. Retry after Retry-After seconds.`,
      );
    },
    consume: (caller, headers) => count(caller, () => 1, headers),
    charge: async (caller, bytes, headers) => {
      const points = Math.floor(bytes / BYTES_PER_POINT);
      // A limit below the cost of one body gives that body a whole minute, instead of refusing it forever.
      if (points > 0) await count(caller, (quota) => Math.min(points, quota - 1), headers);
    },
  };
}
