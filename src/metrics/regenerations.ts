import type { Registry } from 'prom-client';
import type { JobId } from '../ids.ts';
import type { FailureCause, Replacement } from '../temporal/shapes.ts';
import { countEndings } from './paid-jobs.ts';

/** The steps that end a job. */
interface CountedSteps {
  readonly settleAnew: (jobId: JobId) => Promise<Replacement>;
  readonly failAnew: (jobId: JobId, errorMessage: string, cause: FailureCause) => Promise<boolean>;
  readonly cancelAnew: (jobId: JobId) => Promise<boolean>;
}

export interface RegenerationMetrics {
  /** Returns the activities with the ends of jobs counted. */
  readonly countRegenerations: <Activities extends CountedSteps>(activities: Activities) => Activities;
}

/** Counts the jobs for one image that runs end in this process. */
export function createRegenerationMetrics(registry: Registry): RegenerationMetrics {
  const counting = countEndings(registry, {
    name: 'image_jobs_ended_total',
    help: 'Regenerations of images ended by their run, by outcome.',
  });
  return {
    countRegenerations: (activities) => ({
      ...activities,
      async settleAnew(jobId) {
        const outcome = await activities.settleAnew(jobId);
        if (outcome !== 'already ended') {
          await counting(outcome === 'settled' ? 'completed' : 'failed', Promise.resolve(true));
        }
        return outcome;
      },
      failAnew: (jobId, message, cause) => counting('failed', activities.failAnew(jobId, message, cause)),
      cancelAnew: (jobId) => counting('cancelled', activities.cancelAnew(jobId)),
    }),
  };
}
