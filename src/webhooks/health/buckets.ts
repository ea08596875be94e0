/** Each bucket of durations ends a quarter above the one before; the last one has all that are longer than 14 s. */
const RATIO = 1.25;
const LAST = 43;

/** The bucket of an attempt that took so many milliseconds. */
export const bucketOf = (durationMs: number): number =>
  durationMs <= 1 ? 0 : Math.min(LAST, Math.ceil(Math.log(durationMs) / Math.log(RATIO) - 1e-9));

/** The longest duration of a bucket, in milliseconds. */
const longestOf = (bucket: number): number => Math.round(RATIO ** bucket);

/** Attempts by bucket. */
export interface Bucket {
  readonly bucket: number;
  readonly attempts: number;
}

/** What 95 in 100 attempts took at most, in milliseconds, up to a quarter too long; null without any. */
export function p95Of(buckets: readonly Bucket[]): number | null {
  const total = buckets.reduce((sum, { attempts }) => sum + attempts, 0);
  let counted = 0;
  for (const { bucket, attempts } of [...buckets].sort((a, b) => a.bucket - b.bucket)) {
    counted += attempts;
    if (counted >= 0.95 * total) return longestOf(bucket);
  }
  return null;
}
