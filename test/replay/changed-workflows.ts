import { proxyActivities } from '@temporalio/workflow';
import type { TranslationActivities } from '../../activities/translation.ts';
import type { TranslationRunInput } from '../../src/temporal/shapes.ts';

const { planSegments, reserve } = proxyActivities<TranslationActivities>({ startToCloseTimeout: '1 minute' });

/** What a careless change would do: the first two steps in another order. */
export async function translateArticle({ jobId }: TranslationRunInput): Promise<void> {
  await planSegments(jobId);
  await reserve(jobId);
}
