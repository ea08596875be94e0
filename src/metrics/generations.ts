import type { Registry } from 'prom-client';
import type { JobId } from '../ids.ts';
import type { FailureCause } from '../temporal/shapes.ts';
import { countAttempts, countEndings } from './paid-jobs.ts';

/** The steps of a run whose outcomes are counted. */
interface CountedSteps {
  readonly planOutline: (jobId: JobId) => Promise<void>;
  readonly writeSection: (jobId: JobId, section: number) => Promise<void>;
  readonly settleOutline: (jobId: JobId) => Promise<boolean>;
  readonly settleGeneration: (jobId: JobId) => Promise<boolean>;
  readonly failGeneration: (jobId: JobId, errorMessage: string, cause: FailureCause) => Promise<boolean>;
  readonly cancelGeneration: (jobId: JobId) => Promise<boolean>;
}

/** Returns the activities with their outcomes counted. */
export type CountGenerations = <Activities extends CountedSteps>(activities: Activities) => Activities;

/** Counts written outlines and sections, and the jobs that runs end in this process. */
export function createGenerationMetrics(registry: Registry): CountGenerations {
  const countPart = countAttempts(registry, {
    made: 'written',
    tries: {
      name: 'generation_parts_total',
      help: 'Attempts to write an outline, a section or the questions, by outcome.',
    },
    refusals: {
      name: 'generation_engine_refusals_total',
      help: 'Parts that the model refused because of our settings: key, address, model or quota.',
    },
  });
  const counting = countEndings(registry, {
    name: 'generation_jobs_ended_total',
    help: 'Generations and outlines ended by their run, by outcome.',
  });
  return (activities) => ({
    ...activities,
    planOutline: (jobId) => countPart(activities.planOutline(jobId)),
    writeSection: (jobId, section) => countPart(activities.writeSection(jobId, section)),
    settleOutline: (jobId) => counting('completed', activities.settleOutline(jobId)),
    settleGeneration: (jobId) => counting('completed', activities.settleGeneration(jobId)),
    failGeneration: (jobId, message, cause) =>
      counting('failed', activities.failGeneration(jobId, message, cause)),
    cancelGeneration: (jobId) => counting('cancelled', activities.cancelGeneration(jobId)),
  });
}
