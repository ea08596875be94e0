import { patched } from '@temporalio/workflow';
import type { TranslationRunInput, TranslationRunResult } from '../src/temporal/shapes.ts';
import { connect, translateInBatches } from './batches.ts';
import { awaitTurn, queuePrefix } from './paid-run.ts';

/**
 * Fills the draft of a translation job: takes over the hold, plans segments, translates them in batches and settles.
 * Content never enters the history: segments are rows, and only counts come back.
 */
export async function translateArticle({ jobId }: TranslationRunInput): Promise<TranslationRunResult> {
  const inTurns = patched('turns-and-queues');
  const connected = connect(inTurns ? queuePrefix() : undefined);
  const { steps } = connected;
  return translateInBatches(jobId, connected, {
    begin: () =>
      inTurns
        ? awaitTurn(steps.takeTurn, jobId)
        : steps.reserve.executeWithOptions({ summary: 'take the hold over' }, [jobId]),
    plan: () => steps.planSegments.executeWithOptions({ summary: 'split into segments' }, [jobId]),
    settle: () => steps.settle.executeWithOptions({ summary: 'write the article and charge' }, [jobId]),
    givingBack: 'empty the draft and release the hold',
  });
}
