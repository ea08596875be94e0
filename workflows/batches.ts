import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { TranslationActivities } from '../activities/translation.ts';
import type { JobId } from '../src/ids.ts';
import { PARALLEL_BATCHES, type PlannedRun, type TranslationRunResult } from '../src/temporal/shapes.ts';
import { inLanes } from './lanes.ts';
import { awaitTurn, onEngineCalls, onJobSteps, orWithout, paidRun } from './paid-run.ts';

/** The activities of a run. */
function connect() {
  const engineCalls = onEngineCalls();
  return {
    steps: proxyActivities<Omit<TranslationActivities, 'translateBatch' | 'drawStyleSheet'>>(onJobSteps()),
    engine: proxyActivities<Pick<TranslationActivities, 'translateBatch'>>(engineCalls),
    /** 8 attempts are two minutes of failing. An engine may demand an hour: then the run continues without a sheet. */
    sheet: proxyActivities<Pick<TranslationActivities, 'drawStyleSheet'>>({
      ...engineCalls,
      scheduleToCloseTimeout: '1 hour',
      retry: { ...engineCalls.retry, maximumAttempts: 8 },
    }),
  };
}

type Connected = ReturnType<typeof connect>;

/** What the steps do that differ between a first translation and a refresh, for operators who read the run. */
interface Summaries {
  readonly planning: string;
  readonly settling: string;
  /** A failure or cancellation. */
  readonly givingBack: string;
}

/**
 * Runs a translation job: takes over the hold, plans, draws a style sheet, translates in batches and settles, or releases
 * the hold. Content never enters the history: segments are rows, and only counts come back.
 */
export async function translateInBatches(
  jobId: JobId,
  { planning, settling, givingBack }: Summaries,
): Promise<TranslationRunResult> {
  const { steps, engine, sheet } = connect();
  return paidRun<TranslationRunResult>(
    async () => {
      if (!(await awaitTurn(steps.reserve, jobId))) return { outcome: 'already ended' };
      const planned = await steps.planSegments.executeWithOptions({ summary: planning }, [jobId]);
      const { batches } = planned;
      // Without one the text is translated all the same.
      if (planned.drawSheet)
        await orWithout(() =>
          sheet.drawStyleSheet.executeWithOptions({ summary: 'draw the style sheet' }, [jobId]),
        );
      await translateAll(engine, jobId, planned);
      // The point of no return: once begun, a cancellation comes too late.
      const settled = await CancellationScope.nonCancellable(() =>
        steps.settle.executeWithOptions({ summary: settling }, [jobId]),
      );
      return { outcome: settled ? 'settled' : 'already ended', batches };
    },
    {
      cancel: () => steps.cancel.executeWithOptions({ summary: givingBack }, [jobId]),
      fail: (message, cause) =>
        steps.fail.executeWithOptions({ summary: givingBack }, [jobId, message, cause]),
      what: 'translation',
    },
  );
}

/**
 * Translates every batch, a few at a time; when one fails for good the others are cancelled and awaited first. A batch of
 * the title, meta texts and keywords ends before the others begin, which are given its words.
 */
async function translateAll(
  { translateBatch }: Connected['engine'],
  jobId: JobId,
  { batches, fieldsFirst }: PlannedRun,
): Promise<void> {
  const translate = (batch: number) =>
    translateBatch.executeWithOptions({ summary: `batch ${batch + 1} of ${batches}` }, [jobId, batch]);
  const numbers = Array.from({ length: batches }, (_, batch) => batch);
  const [first = 0, ...body] = numbers;
  if (fieldsFirst) await translate(first);
  await inLanes(fieldsFirst ? body : numbers, PARALLEL_BATCHES, translate);
}
