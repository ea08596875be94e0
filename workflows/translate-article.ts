import type { TranslationRunInput, TranslationRunResult } from '../src/temporal/shapes.ts';
import { translateInBatches } from './batches.ts';

/**
 * Fills the draft of a translation job: takes over the hold, plans segments, translates them in batches and settles.
 * Content never enters the history: segments are rows, and only counts come back.
 */
export async function translateArticle({ jobId }: TranslationRunInput): Promise<TranslationRunResult> {
  return translateInBatches(jobId, {
    plan: (steps) => steps.planSegments.executeWithOptions({ summary: 'split into segments' }, [jobId]),
    settle: (steps) => steps.settle.executeWithOptions({ summary: 'write the article and charge' }, [jobId]),
    givingBack: 'empty the draft and release the hold',
  });
}
