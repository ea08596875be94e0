import type { TranslationRunInput, TranslationRunResult } from '../src/temporal/shapes.ts';
import { connect, translateInBatches } from './batches.ts';
import { awaitTurn, queuePrefix } from './paid-run.ts';

/**
 * Brings a version up to date with its source: takes over the hold, plans the changes, translates them in batches and
 * settles, which applies or proposes them. Until then the article is untouched.
 */
export async function refreshTranslation({ jobId }: TranslationRunInput): Promise<TranslationRunResult> {
  const connected = connect(queuePrefix());
  const { steps } = connected;
  return translateInBatches(jobId, connected, {
    begin: () => awaitTurn(steps.reserve, jobId),
    plan: () =>
      steps.planRefresh.executeWithOptions({ summary: 'split what changed into segments' }, [jobId]),
    settle: () =>
      steps.settleRefresh.executeWithOptions({ summary: 'apply or propose, and charge' }, [jobId]),
    givingBack: 'release the hold, the article stays as it is',
  });
}
