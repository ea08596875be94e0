import { ApplicationFailure } from '@temporalio/common';
import { Counter, type Registry } from 'prom-client';

interface CounterText {
  readonly name: string;
  readonly help: string;
}

const OUTCOMES = ['completed', 'failed', 'cancelled'] as const;

/** Counts an end that a step reports: false when the job had already ended. */
export type CountEnding = (outcome: (typeof OUTCOMES)[number], ending: Promise<boolean>) => Promise<boolean>;

/**
 * A counter of the jobs that runs end in this process. Jobs cancelled by a request, ended by `reconcile` or refused
 * at their turn are not included.
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
 * Counters of work done by an engine: its outcomes, and refusals because of our settings.
 * @param made the name of the successful outcome
 * @returns counts one piece of work, by how it ends
 */
export function countAttempts(
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

/** How a refusal's failure is marked: see `providerFailure`. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ApplicationFailure &&
  error.details?.some((detail) => (detail as { kind?: unknown } | null)?.kind === 'misconfigured') === true;
