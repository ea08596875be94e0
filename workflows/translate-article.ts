import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
} from '@temporalio/workflow';
import type { TranslationActivities } from '../activities/translation.ts';
import type { JobId } from '../src/ids.ts';
import type { TranslateArticleInput, TranslateArticleResult } from '../src/temporal/shapes.ts';

/** Batches of one job that are with the provider at the same time. */
const PARALLEL_BATCHES = 4;

/** Statements on Postgres: repeated for as long as it takes, but never against a broken constraint. */
const { reserve, planSegments, settle, fail, cancel } = proxyActivities<TranslationActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '10 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** 36 attempts are 30 minutes of failing, however long no worker is there to try. */
const { translateBatch } = proxyActivities<TranslationActivities>({
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '20 seconds',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: 36,
  },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/**
 * Fills the draft of a translation job: takes the hold over, plans segments, translates them in batches and
 * settles. Content never enters the history: segments are rows, and only counts come back.
 */
export async function translateArticle({ jobId }: TranslateArticleInput): Promise<TranslateArticleResult> {
  try {
    if (!(await reserve.executeWithOptions({ summary: 'take the hold over' }, [jobId]))) {
      return { outcome: 'already ended' };
    }
    const { batches } = await planSegments.executeWithOptions({ summary: 'split into segments' }, [jobId]);
    await translateAll(jobId, batches);
    // The point of no return: once begun, a cancellation comes too late.
    const settled = await CancellationScope.nonCancellable(() =>
      settle.executeWithOptions({ summary: 'write the article and charge' }, [jobId]),
    );
    return { outcome: settled ? 'settled' : 'already ended', batches };
  } catch (error) {
    // A lost worker turns a cancellation into a heartbeat timeout, so the scope is asked, not the error.
    if (isCancellation(error) || CancellationScope.current().consideredCancelled) {
      await CancellationScope.nonCancellable(() =>
        cancel.executeWithOptions({ summary: 'empty the draft and release the hold' }, [jobId]),
      );
      throw error;
    }
    if (failureType(error) === 'JobEnded') return { outcome: 'already ended' };
    await CancellationScope.nonCancellable(() =>
      fail.executeWithOptions({ summary: 'empty the draft and release the hold' }, [jobId, messageOf(error)]),
    );
    throw error;
  }
}

/** Translates every batch, a few at a time; when one fails for good the others are cancelled and awaited first. */
async function translateAll(jobId: JobId, batches: number): Promise<void> {
  let next = 0;
  await CancellationScope.cancellable(async () => {
    const scope = CancellationScope.current();
    const lane = async () => {
      while (next < batches) {
        const batch = next;
        next += 1;
        await translateBatch.executeWithOptions({ summary: `batch ${batch + 1} of ${batches}` }, [
          jobId,
          batch,
        ]);
      }
    };
    const lanes = Array.from({ length: Math.min(PARALLEL_BATCHES, batches) }, async () => {
      try {
        await lane();
      } catch (error) {
        scope.cancel();
        throw error;
      }
    });
    const failed = (await Promise.allSettled(lanes)).filter((lane) => lane.status === 'rejected');
    // The cancelled lanes only follow the one that failed.
    const cause = failed.find((lane) => !isCancellation(lane.reason)) ?? failed[0];
    if (cause !== undefined) throw cause.reason;
  });
}

/** The type an activity gave its failure; undefined for anything else. */
const failureType = (error: unknown): string | null | undefined =>
  error instanceof ActivityFailure && error.cause instanceof ApplicationFailure
    ? error.cause.type
    : undefined;

/** The failure as the job's errorMessage. A provider's message is written for people to read; no other is. */
const messageOf = (error: unknown): string =>
  failureType(error) === 'ProviderError' && error instanceof ActivityFailure && error.cause !== undefined
    ? error.cause.message
    : 'The translation stopped on an internal error. Nothing was charged; start it again.';
