import { ApplicationFailure } from '@temporalio/common';
import { Counter, type Registry } from 'prom-client';

interface CounterText {
  readonly name: string;
  readonly help: string;
}

const OUTCOMES = ['completed', 'failed', 'cancelled'] as const;

/** Counts what a step says that it ended: false when the job had ended before. */
export type CountEnding = (outcome: (typeof OUTCOMES)[number], ending: Promise<boolean>) => Promise<boolean>;

/**
 * A counter of the jobs that runs end in this process. A job that a request cancels, or `reconcile` ends, is not among
 * them: its run finds it ended.
 */
export function countEndings(registry: Registry, counter: CounterText): CountEnding {
  const jobs = new Counter({ ...counter, labelNames: ['outcome'] as const, registers: [registry] });
  for (const outcome of OUTCOMES) jobs.inc({ outcome }, 0);
  return async (outcome, ending) => {
    const ended = await ending;
    if (ended) jobs.inc({ outcome });
    return ended;
  };
}

/**
 * Counters of what an engine is asked to make: whether it did, and how often it refused because of our settings.
 * @param made what the outcome is called that is no failure
 * @returns counts one piece of work, by how it ends
 */
export function countTries(
  registry: Registry,
  { made, tries, refusals }: { made: string; tries: CounterText; refusals: CounterText },
): <Result>(work: Promise<Result>) => Promise<Result> {
  const ended = new Counter({ ...tries, labelNames: ['outcome'] as const, registers: [registry] });
  const refused = new Counter({ ...refusals, registers: [registry] });
  for (const outcome of [made, 'failed']) ended.inc({ outcome }, 0);
  return async (work) => {
    try {
      const result = await work;
      ended.inc({ outcome: made });
      return result;
    } catch (error) {
      ended.inc({ outcome: 'failed' });
      if (isRefusal(error)) refused.inc();
      throw error;
    }
  };
}

/** What a refusal's failure says about itself: see `providerFailure`. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ApplicationFailure &&
  error.details?.some((detail) => (detail as { kind?: unknown } | null)?.kind === 'misconfigured') === true;
