import type { TranslationRunInput, TranslationRunResult } from '../src/temporal/shapes.ts';
import { connect, translateInBatches } from './batches.ts';
import { awaitTurn, queuePrefix } from './paid-run.ts';

/**
 * Fills the draft of a translation job: takes over the hold, plans segments, translates them in batches and settles.
 * Content never enters the history: segments are rows, and only counts come back.
 */
export async function translateArticle({ jobId }: TranslationRunInput): Promise<TranslationRunResult> {
  const connected = connect(queuePrefix());
  const { steps } = connected;
  return translateInBatches(jobId, connected, {
    begin: () => awaitTurn(steps.reserve, jobId),
    plan: () => steps.planSegments.executeWithOptions({ summary: 'split into segments' }, [jobId]),
    settle: () => steps.settle.executeWithOptions({ summary: 'write the article and charge' }, [jobId]),
    givingBack: 'empty the draft and release the hold',
  });
}
