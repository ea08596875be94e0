import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { type AskDependencies, askOperation } from '../src/ai/ask.ts';
import { MissingHoldError, releaseOperation, settleOperation } from '../src/ai/operations.ts';
import { isConstraintViolation } from '../src/db/errors.ts';
import type { AiOperationId } from '../src/ids.ts';
import { ProviderError } from '../src/providers/types.ts';
import type { AskResult } from '../src/temporal/shapes.ts';

const HEARTBEAT_MS = 2_500;

export type AiActivities = ReturnType<typeof createAiActivities>;

/** The steps of `aiOperation`. Each may run again after a crash and then finds its work done. */
export function createAiActivities(dependencies: AskDependencies) {
  const { db } = dependencies;
  return {
    /** Asks the model and answers how many usable suggestions came back. */
    async ask(id: AiOperationId): Promise<AskResult> {
      const pulse = setInterval(heartbeat, HEARTBEAT_MS);
      try {
        return await askOperation(dependencies, id, cancellationSignal());
      } catch (error) {
        throw asFailure(error);
      } finally {
        clearInterval(pulse);
      }
    },

    /** Charges for the stored result; false when the operation had ended before. */
    settle: (id: AiOperationId): Promise<boolean> => onDatabase(() => settleOperation(db, id)),

    /** Ends the operation without a charge; false when it had ended before. */
    release: (id: AiOperationId, status: 'empty' | 'failed'): Promise<boolean> =>
      onDatabase(() => releaseOperation(db, id, status)),
  };
}

/** Runs database work; a broken constraint or a missing hold will be so next time too. */
async function onDatabase<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isConstraintViolation(error) && !(error instanceof MissingHoldError)) throw error;
    throw ApplicationFailure.create({
      type: error instanceof MissingHoldError ? 'MissingHold' : 'ConstraintViolation',
      message: error instanceof Error ? error.message : String(error),
      nonRetryable: true,
    });
  }
}

/** A provider's error as Temporal understands it: what may pass is retried by the activity's policy. */
function asFailure(error: unknown): unknown {
  if (cancellationSignal().aborted) return new CancelledFailure('cancelled while asking');
  if (!(error instanceof ProviderError)) return error;
  return ApplicationFailure.create({
    type: 'ProviderError',
    message: error.message,
    nonRetryable: error.kind !== 'retryable',
    details: [{ kind: error.kind }],
    ...(error.retryAfterMs === undefined ? {} : { nextRetryDelay: error.retryAfterMs }),
  });
}
