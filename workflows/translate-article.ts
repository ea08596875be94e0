import type { TranslationRunInput, TranslationRunResult } from '../src/temporal/shapes.ts';
import { translateInBatches } from './batches.ts';

/** Fills the draft of a translation job. */
export async function translateArticle({ jobId }: TranslationRunInput): Promise<TranslationRunResult> {
  return translateInBatches(jobId, {
    planning: 'split into segments',
    settling: 'write the article and charge',
    givingBack: 'empty the draft and release the hold',
  });
}
