import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityInterfaceFor,
  ApplicationFailure,
  CancellationScope,
  ContinueAsNew,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { JobActivities } from '../activities/jobs.ts';
import type { JobId } from '../src/ids.ts';
import { TURN_FREED } from '../src/temporal/shapes.ts';

/** A run that nobody tells of a free turn asks again after a second for each that is ahead of it, a minute at most. */
const ASK_AGAIN_MS = { each: 1_000, most: 60_000 } as const;

/** Statements on Postgres: repeated for as long as it takes, but never against a broken constraint. */
export const STEP = {
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '10 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;

/** 36 attempts are 30 minutes of failing, however long no worker is there to try. */
export const ENGINE_CALL = {
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '20 seconds',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
    maximumAttempts: 36,
  },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;

/** What the names of this deployment's queues begin with: runs of paid jobs are on its queue `translation`. */
export const queuePrefix = (): string => workflowInfo().taskQueue.replace(/translation$/, '');

/** How a run ends its job without a result. */
export interface GivingBack {
  readonly cancel: () => Promise<boolean>;
  readonly fail: (errorMessage: string) => Promise<boolean>;
  /** What the job is, in the message about a fault of our own: `translation`. */
  readonly what: string;
}

/**
 * Brings a paid job to its end: `run` does its steps and settles, or what was held is given back.
 * @returns what `run` does; `already ended` when a step found that the job had
 */
export async function paidRun<Result extends { readonly outcome: string }>(
  run: () => Promise<Result>,
  { cancel, fail, what }: GivingBack,
): Promise<Result | { readonly outcome: 'already ended' }> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error;
    // A lost worker turns a cancellation into a heartbeat timeout, so the scope is asked, not the error.
    if (isCancellation(error) || CancellationScope.current().consideredCancelled) {
      await CancellationScope.nonCancellable(cancel);
      throw error;
    }
    if (failureType(error) === 'JobEnded') return { outcome: 'already ended' };
    await CancellationScope.nonCancellable(() => fail(messageOf(error, what)));
    throw error;
  }
}

/**
 * Takes the hold over as soon as few enough runs of the workspace are under way. Waiting holds no slot and no attempt.
 * @returns false when the job has ended
 */
export async function awaitTurn(
  takeTurn: ActivityInterfaceFor<JobActivities>['takeTurn'],
  jobId: JobId,
): Promise<boolean> {
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
      await continueAsNew<(input: { jobId: JobId }) => Promise<unknown>>({ jobId });
    }
  }
}

/** The type an activity gave its failure; undefined for anything else. */
export const failureType = (error: unknown): string | null | undefined =>
  error instanceof ActivityFailure && error.cause instanceof ApplicationFailure
    ? error.cause.type
    : undefined;

/**
 * The failure as the job's errorMessage. A provider's message is written for people to read; no other is. What only an
 * operator can put right stays in the history: customers have no use for the names of our variables.
 */
function messageOf(error: unknown, what: string): string {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || cause.type !== 'ProviderError') {
    return `The ${what} stopped on an internal error. Nothing was charged; start it again.`;
  }
  const { kind } = Object(cause.details?.[0]);
  if (kind === 'misconfigured') {
    return `The ${what} stopped, because this service's access to its engine is refused. Nothing was charged; the operator of the service has to fix that.`;
  }
  return kind === 'retryable'
    ? `The ${what} stopped, because its engine was busy or out of reach for too long. Nothing was charged; start it again later.`
    : cause.message;
}
