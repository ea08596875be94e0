import { ActivityCancellationType, CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { AiActivities } from '../activities/ai.ts';
import type { AiOperationInput, AiOperationResult } from '../src/temporal/shapes.ts';

/**
 * The client waits for 60 seconds: four attempts at a model that may come back, a lost worker noticed within ten
 * seconds, and no attempt after the client is gone.
 */
const { ask } = proxyActivities<AiActivities>({
  startToCloseTimeout: '50 seconds',
  scheduleToCloseTimeout: '55 seconds',
  heartbeatTimeout: '10 seconds',
  retry: {
    initialInterval: '500 ms',
    backoffCoefficient: 2,
    maximumInterval: '5 seconds',
    maximumAttempts: 4,
  },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** One statement or transaction, retried until the database takes it. */
const { settle, release } = proxyActivities<AiActivities>({
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '10 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/**
 * One paid operation: asks the model, then charges for the result or releases the hold. Content stays in the database;
 * only counts come back.
 */
export async function aiOperation({ operationId }: AiOperationInput): Promise<AiOperationResult> {
  try {
    const result = await ask.executeWithOptions({ summary: 'ask the model' }, [operationId]);
    if (result.kind === 'ended') return { outcome: 'already ended', suggestions: 0 };
    const { suggestions } = result;
    // The point of no return: after the model's response a cancellation comes too late.
    return await CancellationScope.nonCancellable(async () => {
      const ended =
        suggestions > 0
          ? await settle.executeWithOptions({ summary: 'charge for the result' }, [operationId])
          : await release.executeWithOptions({ summary: 'release: nothing came back' }, [
              operationId,
              'empty',
            ]);
      if (!ended) return { outcome: 'already ended', suggestions: 0 };
      return { outcome: suggestions > 0 ? 'settled' : 'released', suggestions };
    });
  } catch (error) {
    await CancellationScope.nonCancellable(() =>
      release.executeWithOptions({ summary: 'release: no result' }, [operationId, 'failed']),
    );
    throw error;
  }
}
