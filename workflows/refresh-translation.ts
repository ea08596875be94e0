import type { TranslationRunInput, TranslationRunResult } from '../src/temporal/shapes.ts';
import { translateInBatches } from './batches.ts';

/** Brings a version up to date with its source. Until the run settles the article is untouched. */
export async function refreshTranslation({ jobId }: TranslationRunInput): Promise<TranslationRunResult> {
  return translateInBatches(jobId, {
    planning: 'split what changed into segments',
    settling: 'apply or propose, and charge',
    givingBack: 'release the hold, the article stays as it is',
  });
}
