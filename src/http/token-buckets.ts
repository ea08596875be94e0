/** Token buckets: so many tokens at once, refilled within a minute. */

const MINUTE_MS = 60_000;
/** Buckets kept. Beyond it the one used longest ago is dropped, which fills it. */
const MAX_BUCKETS = 50_000;

export interface TokenBuckets {
  /** Tokens in the bucket, fractions included; `quota` when it is full. */
  readonly left: (key: string, quota: number) => number;
  /**
   * Takes tokens; a bucket that holds fewer is empty afterwards.
   * @returns tokens left
   */
  readonly take: (key: string, quota: number, tokens: number) => number;
  /** Number of buckets in memory. */
  readonly size: () => number;
}

interface Bucket {
  readonly used: number;
  readonly at: number;
}

/**
 * Buckets by key. Each use names the bucket's quota, so that a changed one counts at once. An unused bucket is full after
 * a minute and is dropped.
 * @param now milliseconds of a steady clock
 */
export function createTokenBuckets(now = () => performance.now(), max = MAX_BUCKETS): TokenBuckets {
  /** In the order of their last use. */
  const buckets = new Map<string, Bucket>();

  const usedOf = (key: string, quota: number): number => {
    const bucket = buckets.get(key);
    if (bucket === undefined) return 0;
    return Math.max(0, Math.min(bucket.used, quota) - ((now() - bucket.at) * quota) / MINUTE_MS);
  };

  /** A use adds one bucket at most, so dropping two keeps up. */
  const dropOldest = (): void => {
    let dropped = 0;
    for (const [key, { at }] of buckets) {
      if (dropped === 2 || (buckets.size <= max && now() - at < MINUTE_MS)) return;
      buckets.delete(key);
      dropped += 1;
    }
  };

  return {
    left: (key, quota) => quota - usedOf(key, quota),
    take: (key, quota, tokens) => {
      const used = Math.min(quota, usedOf(key, quota) + tokens);
      buckets.delete(key);
      buckets.set(key, { used, at: now() });
      dropOldest();
      return quota - used;
    },
    size: () => buckets.size,
  };
}
