import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { JobActivities } from '../activities/jobs.ts';
import type { RegenerationActivities } from '../activities/regeneration.ts';
import { DRAWING_MS, IMAGE_ATTEMPTS, PROCESSING_MS } from '../src/generation/images/limits.ts';
import type { ImageRunInput, ImageRunResult } from '../src/temporal/shapes.ts';
import { awaitTurn, onEngineCalls, onJobSteps, paidRun } from './paid-run.ts';

const GIVING_BACK = { summary: 'release the hold, the image stays' };

/**
 * Makes an image anew in place: takes over the hold, has a model draw, decodes what came, and settles, unless a person has
 * changed the image meanwhile. Until then image and article are untouched. Neither prompt nor bytes enter the history.
 */
export async function regenerateImage({ jobId }: ImageRunInput): Promise<ImageRunResult> {
  const steps = proxyActivities<RegenerationActivities & JobActivities>(onJobSteps());
  const engineCalls = onEngineCalls();
  const retry = { ...engineCalls.retry, maximumAttempts: IMAGE_ATTEMPTS };
  const drawing = proxyActivities<Pick<RegenerationActivities, 'drawAnew'>>({
    ...engineCalls,
    startToCloseTimeout: DRAWING_MS,
    retry,
  });
  const processing = proxyActivities<Pick<RegenerationActivities, 'processAnew'>>({
    ...engineCalls,
    taskQueue: onJobSteps().taskQueue,
    startToCloseTimeout: PROCESSING_MS,
    retry,
  });
  return paidRun<ImageRunResult>(
    async () => {
      if (!(await awaitTurn(steps.reserve, jobId))) return { outcome: 'already ended' };
      await drawing.drawAnew.executeWithOptions({ summary: 'a model draws the image' }, [jobId]);
      await processing.processAnew.executeWithOptions({ summary: 'decode it and make its smaller forms' }, [
        jobId,
      ]);
      // The point of no return: once begun, a cancellation comes too late.
      const outcome = await CancellationScope.nonCancellable(() =>
        steps.settleAnew.executeWithOptions({ summary: 'replace the image and charge' }, [jobId]),
      );
      return { outcome };
    },
    {
      cancel: () => steps.cancelAnew.executeWithOptions(GIVING_BACK, [jobId]),
      fail: (message, cause) => steps.failAnew.executeWithOptions(GIVING_BACK, [jobId, message, cause]),
      what: 'regeneration',
    },
  );
}
