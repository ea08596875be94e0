import type { TranslationRunInput, TranslationRunResult } from '../src/temporal/shapes.ts';
import { translateInBatches } from './batches.ts';

/**
 * Brings a version up to date with its source: takes over the hold, plans the changes, translates them in batches and
 * settles, which applies or proposes them. Until then the article is untouched.
 */
export async function refreshTranslation({ jobId }: TranslationRunInput): Promise<TranslationRunResult> {
  return translateInBatches(jobId, {
    plan: (steps) =>
      steps.planRefresh.executeWithOptions({ summary: 'split what changed into segments' }, [jobId]),
    settle: (steps) =>
      steps.settleRefresh.executeWithOptions({ summary: 'apply or propose, and charge' }, [jobId]),
    givingBack: 'release the hold, the article stays as it is',
  });
}
