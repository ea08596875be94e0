import { ApplicationFailure } from '@temporalio/common';
import { Counter, type Registry } from 'prom-client';

const OUTCOMES = ['completed', 'failed', 'cancelled'] as const;

/** Counts what a step says that it ended: false when the job had ended before. */
export type CountEnding = (outcome: (typeof OUTCOMES)[number], ending: Promise<boolean>) => Promise<boolean>;

/**
 * A counter of the jobs that runs end in this process. A job that a request cancels, or `reconcile` ends, is not among
 * them: its run finds it ended.
 */
export function countEndings(registry: Registry, counter: { name: string; help: string }): CountEnding {
  const jobs = new Counter({ ...counter, labelNames: ['outcome'] as const, registers: [registry] });
  for (const outcome of OUTCOMES) jobs.inc({ outcome }, 0);
  return async (outcome, ending) => {
    const ended = await ending;
    if (ended) jobs.inc({ outcome });
    return ended;
  };
}

/** What a refusal's failure says about itself: see `providerFailure`. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ApplicationFailure &&
  error.details?.some((detail) => (detail as { kind?: unknown } | null)?.kind === 'misconfigured') === true;
