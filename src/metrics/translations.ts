import { Counter, type Registry } from 'prom-client';
import type { JobId } from '../ids.ts';
import type { FailureCause } from '../temporal/shapes.ts';
import { countAttempts, countEndings } from './paid-jobs.ts';

/** The steps of a run whose outcomes are counted. */
interface CountedSteps {
  readonly translateBatch: (jobId: JobId, batch: number) => Promise<{ segments: number }>;
  readonly settle: (jobId: JobId) => Promise<boolean>;
  readonly fail: (jobId: JobId, errorMessage: string, cause: FailureCause) => Promise<boolean>;
  readonly cancel: (jobId: JobId) => Promise<boolean>;
}

/** Returns the activities with their outcomes counted. */
export type CountTranslations = <Activities extends CountedSteps>(activities: Activities) => Activities;

/** Counts translated batches and the jobs that runs end in this process. */
export function createTranslationMetrics(registry: Registry): CountTranslations {
  const countBatch = countAttempts(registry, {
    made: 'translated',
    tries: { name: 'translation_batches_total', help: 'Attempts to translate a batch, by outcome.' },
    refusals: {
      name: 'translation_engine_refusals_total',
      help: 'Batches that the engine refused because of our settings: key, address, model or quota.',
    },
  });
  const segments = new Counter({
    name: 'translation_segments_total',
    help: 'Text segments sent to the translation engine in batches that have ended.',
    registers: [registry],
  });
  const counting = countEndings(registry, {
    name: 'translation_jobs_ended_total',
    help: 'Translations and refreshes ended by their run, by outcome.',
  });
  return (activities) => ({
    ...activities,
    async translateBatch(jobId, batch) {
      const result = await countBatch(activities.translateBatch(jobId, batch));
      segments.inc(result.segments);
      return result;
    },
    settle: (jobId) => counting('completed', activities.settle(jobId)),
    fail: (jobId, message, cause) => counting('failed', activities.fail(jobId, message, cause)),
    cancel: (jobId) => counting('cancelled', activities.cancel(jobId)),
  });
}
