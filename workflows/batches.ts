import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  ContinueAsNew,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { TranslationActivities } from '../activities/translation.ts';
import type { JobId } from '../src/ids.ts';
import { type TranslationRunInput, type TranslationRunResult, TURN_FREED } from '../src/temporal/shapes.ts';

/** Batches of one job that are with the provider at the same time. */
const PARALLEL_BATCHES = 4;

/** A run that nobody tells of a free turn asks again after a second for each that is ahead of it, a minute at most. */
const ASK_AGAIN_MS = { each: 1_000, most: 60_000 } as const;

/**
 * The activities of a run. Steps on Postgres and calls of engines have queues of their own, so that a settlement never
 * waits behind engines, nor one workspace's only call behind another's steps.
 * @param prefix what the names of this deployment's queues begin with; undefined for a run of release 0.2, whose activities
 *   are on the queue of the workflow itself
 */
export function connect(prefix: string | undefined) {
  const on = (queue: string) => (prefix === undefined ? {} : { taskQueue: `${prefix}${queue}` });
  return {
    /** Statements on Postgres: repeated for as long as it takes, but never against a broken constraint. */
    steps: proxyActivities<Omit<TranslationActivities, 'translateBatch'>>({
      ...on('job-steps'),
      startToCloseTimeout: '1 minute',
      retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '10 seconds' },
      cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    }),
    /** 36 attempts are 30 minutes of failing, however long no worker is there to try. */
    engine: proxyActivities<Pick<TranslationActivities, 'translateBatch'>>({
      ...on('engine-calls'),
      startToCloseTimeout: '15 minutes',
      heartbeatTimeout: '20 seconds',
      retry: {
        initialInterval: '1 second',
        backoffCoefficient: 2,
        maximumInterval: '1 minute',
        maximumAttempts: 36,
      },
      cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    }),
  };
}

type Connected = ReturnType<typeof connect>;

/** What the names of this deployment's queues begin with: these runs are on its queue `translation`. */
export const queuePrefix = (): string => workflowInfo().taskQueue.replace(/translation$/, '');

/** What differs between runs that translate in batches. */
export interface Run {
  /** Takes the hold over; false when the job has ended. */
  readonly begin: () => Promise<boolean>;
  readonly plan: () => Promise<{ batches: number }>;
  /** Writes the result and the charge; false when the job had ended. */
  readonly settle: () => Promise<boolean>;
  /** What a failure and a cancellation do, for people who read the run. */
  readonly givingBack: string;
}

/** Brings a paid job to its end: begins, plans, translates in batches and settles, or gives back what was held. */
export async function translateInBatches(
  jobId: JobId,
  { steps, engine }: Connected,
  { begin, plan, settle, givingBack }: Run,
): Promise<TranslationRunResult> {
  try {
    if (!(await begin())) return { outcome: 'already ended' };
    const { batches } = await plan();
    await translateAll(engine, jobId, batches);
    // The point of no return: once begun, a cancellation comes too late.
    const settled = await CancellationScope.nonCancellable(settle);
    return { outcome: settled ? 'settled' : 'already ended', batches };
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error;
    // A lost worker turns a cancellation into a heartbeat timeout, so the scope is asked, not the error.
    if (isCancellation(error) || CancellationScope.current().consideredCancelled) {
      await CancellationScope.nonCancellable(() =>
        steps.cancel.executeWithOptions({ summary: givingBack }, [jobId]),
      );
      throw error;
    }
    if (failureType(error) === 'JobEnded') return { outcome: 'already ended' };
    await CancellationScope.nonCancellable(() =>
      steps.fail.executeWithOptions({ summary: givingBack }, [jobId, messageOf(error)]),
    );
    throw error;
  }
}

/**
 * Takes the hold over as soon as few enough runs of the workspace are under way. Waiting holds no slot and no attempt.
 * @returns false when the job has ended
 */
export async function awaitTurn({ takeTurn }: Connected['steps'], jobId: JobId): Promise<boolean> {
  let freed = false;
  setHandler(defineSignal(TURN_FREED), () => {
    freed = true;
  });
  for (;;) {
    freed = false;
    const turn = await takeTurn.executeWithOptions({ summary: 'take the hold over' }, [jobId]);
    if (turn.outcome !== 'wait') return turn.outcome === 'taken';
    // Many that began to wait together do not ask together.
    const jitter = 0.75 + Math.random() / 2;
    await condition(() => freed, jitter * Math.min(turn.ahead * ASK_AGAIN_MS.each, ASK_AGAIN_MS.most));
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<(input: TranslationRunInput) => Promise<TranslationRunResult>>({ jobId });
    }
  }
}

/** Translates every batch, a few at a time; when one fails for good the others are cancelled and awaited first. */
async function translateAll(
  { translateBatch }: Connected['engine'],
  jobId: JobId,
  batches: number,
): Promise<void> {
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
