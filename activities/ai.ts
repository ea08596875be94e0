import { cancellationSignal } from '@temporalio/activity';
import type { AiOperationId } from '../src/ids.ts';
import { type AskDependencies, askOperation } from '../src/suggestions/ask.ts';
import { releaseOperation, settleOperation } from '../src/suggestions/operations.ts';
import type { AskResult } from '../src/temporal/shapes.ts';
import { asFinalFailure, beat, onLeftOver, providerFailure } from './failures.ts';
import { whileBeating } from './heartbeat.ts';

const HEARTBEAT_MS = 2_500;

export type AiActivities = ReturnType<typeof createAiActivities>;

/** The activities of `aiOperation`. Each is idempotent: it may run again after a crash. */
export function createAiActivities(dependencies: AskDependencies) {
  const { db } = dependencies;
  return {
    /** Asks the model; returns how many usable suggestions came back. */
    ask: (id: AiOperationId): Promise<AskResult> =>
      whileBeating(HEARTBEAT_MS, beat, async () => {
        beat();
        try {
          return await askOperation(dependencies, id, cancellationSignal());
        } catch (error) {
          // A client is waiting: no operator comes that soon.
          throw providerFailure(error, ['retryable']);
        }
      }),

    /** Charges for the stored result; false when the operation had already ended. */
    settle: (id: AiOperationId): Promise<boolean> => asFinalFailure(() => settleOperation(db, id)),

    /** Ends the operation without a charge; false when it had already ended. */
    release: (id: AiOperationId, status: 'empty' | 'failed'): Promise<boolean> =>
      asFinalFailure(() => releaseOperation(db, id, status, onLeftOver)),
  };
}
