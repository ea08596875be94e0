import type { Readiness } from '../http/readiness.ts';

/** What /healthz and /readyz on the metrics port report. */
export interface Health {
  /** A fault that only a restart fixes; null when there is none. */
  readonly unwell: () => Promise<string | null>;
  readonly readiness: () => Promise<Readiness>;
}

/** Longer than the relay ever needs to recover by itself, in milliseconds. */
const LONGEST_WITHOUT_ROUND_MS = 120_000;

/**
 * Reports a relay that no longer looks for due deliveries although Postgres responds. While Postgres is away, and for a
 * time after it, a restart would not help.
 * @param sinceRound milliseconds since the relay's last successful round; undefined before the relay runs
 * @param limitMs milliseconds
 */
export function watchRelay(
  sinceRound: () => number | undefined,
  readiness: () => Promise<Readiness>,
  limitMs: number = LONGEST_WITHOUT_ROUND_MS,
): () => Promise<string | null> {
  let lastAway = Number.NEGATIVE_INFINITY;
  return async () => {
    const { checks } = await readiness();
    if (checks.postgres !== 'ok') lastAway = performance.now();
    const idle = Math.min(sinceRound() ?? 0, performance.now() - lastAway);
    return idle > limitMs
      ? `the relay has not looked for due deliveries for ${Math.round(idle / 1_000)} seconds`
      : null;
  };
}
