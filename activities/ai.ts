import { cancellationSignal } from '@temporalio/activity';
import type { AiOperationId } from '../src/ids.ts';
import { type AskDependencies, askOperation } from '../src/suggestions/ask.ts';
import { releaseOperation, settleOperation } from '../src/suggestions/operations.ts';
import type { AskResult } from '../src/temporal/shapes.ts';
import { asFinalFailure, beat, onLeftOver, providerFailure } from './failures.ts';
import { whileBeating } from './heartbeat.ts';

const HEARTBEAT_MS = 2_500;

export type AiActivities = ReturnType<typeof createAiActivities>;

/** The steps of `aiOperation`. Each may run again after a crash and then finds its work done. */
export function createAiActivities(dependencies: AskDependencies) {
  const { db } = dependencies;
  return {
    /** Asks the model and answers how many usable suggestions came back. */
    ask: (id: AiOperationId): Promise<AskResult> =>
      whileBeating(HEARTBEAT_MS, beat, async () => {
        beat();
        try {
          return await askOperation(dependencies, id, cancellationSignal());
        } catch (error) {
          // Somebody waits for the answer: no operator comes that soon.
          throw providerFailure(error, ['retryable']);
        }
      }),

    /** Charges for the stored result; false when the operation had ended before. */
    settle: (id: AiOperationId): Promise<boolean> => asFinalFailure(() => settleOperation(db, id)),

    /** Ends the operation without a charge; false when it had ended before. */
    release: (id: AiOperationId, status: 'empty' | 'failed'): Promise<boolean> =>
      asFinalFailure(() => releaseOperation(db, id, status, onLeftOver)),
  };
}
