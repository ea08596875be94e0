import { createGenerationActivities } from '../../activities/generation.ts';
import type { JobDependencies } from '../../activities/jobs.ts';
import { createRegenerationActivities } from '../../activities/regeneration.ts';
import { createTranslationActivities } from '../../activities/translation.ts';
import type { Engines } from './engines.ts';
import { engineStops } from './stopping.ts';
import type { WorkerMetrics } from './worker-metrics.ts';

/** The activities of paid jobs, counted; those that call engines are interrupted some time after `stopped`. */
export function createPaidActivities(
  jobs: Omit<JobDependencies, 'stopping'>,
  { provider, ...engines }: Engines,
  { metrics, stopped }: { metrics: WorkerMetrics; stopped: AbortSignal },
) {
  const { batches, parts } = engineStops(stopped);
  const images = { ...jobs, ...engines, stopping: parts, onImageCall: metrics.countImageCall };
  return {
    ...metrics.countTranslations(createTranslationActivities({ ...jobs, provider, stopping: batches })),
    ...metrics.countGenerations(
      createGenerationActivities({
        ...images,
        onCall: metrics.countCall,
        onImage: metrics.countImage,
        onSearch: metrics.countSearch,
        onPage: metrics.countPage,
        onClaim: metrics.countClaim,
      }),
    ),
    ...metrics.countRegenerations(createRegenerationActivities(images)),
  };
}
