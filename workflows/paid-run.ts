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
import type { ProviderErrorKind } from '../src/providers/types.ts';
import { type FailureCause, TURN_FREED } from '../src/temporal/shapes.ts';

/** Poll interval for runs not signalled: ten seconds for each run ahead, up to a minute. */
const POLL_MS = { each: 10_000, most: 60_000 } as const;

/** Statements on Postgres: retried as long as it takes, but not after a violated constraint. */
const STEP = {
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '10 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;

/** 36 attempts are 30 minutes of failing, not counting time without a worker. */
const ENGINE_CALL = {
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

/** A queue of this deployment: runs of paid jobs are on its queue `translation`. */
const queue = (name: 'job-steps' | 'engine-calls'): string =>
  workflowInfo().taskQueue.replace(/translation$/, '') + name;

/**
 * Options of the activities of a run. Steps on Postgres and calls of engines have queues of their own, so that a
 * settlement never waits behind engines, nor one workspace's only call behind another's steps.
 */
export const onJobSteps = () => ({ taskQueue: queue('job-steps'), ...STEP });
export const onEngineCalls = () => ({ taskQueue: queue('engine-calls'), ...ENGINE_CALL });

/** How a run ends its job without a result. */
export interface GivingBack {
  readonly cancel: () => Promise<boolean>;
  readonly fail: (errorMessage: string, cause: FailureCause) => Promise<boolean>;
  /** The job's kind, in the message about an internal error: `translation`. */
  readonly what: string;
}

/**
 * Runs a paid job to its end: `run` does its steps and settles, or the hold is released.
 * @returns what `run` returns; `already ended` when a step found that the job had
 */
export async function paidRun<Result extends { readonly outcome: string }>(
  run: () => Promise<Result>,
  { cancel, fail, what }: GivingBack,
): Promise<Result | { readonly outcome: 'already ended' }> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error;
    // A lost worker turns a cancellation into a heartbeat timeout, so check the scope, not the error.
    if (isCancellation(error) || CancellationScope.current().consideredCancelled) {
      await CancellationScope.nonCancellable(cancel);
      throw error;
    }
    if (failureType(error) === 'JobEnded') return { outcome: 'already ended' };
    await CancellationScope.nonCancellable(() => fail(messageOf(error, what), causeOf(error)));
    throw error;
  }
}

/**
 * Takes over the hold as soon as few enough runs of the workspace are active. Waiting holds no slot and no attempt.
 * @returns false when the job has ended
 */
export async function awaitTurn(
  reserve: ActivityInterfaceFor<JobActivities>['reserve'],
  jobId: JobId,
): Promise<boolean> {
  let freed = false;
  setHandler(defineSignal(TURN_FREED), () => {
    freed = true;
  });
  for (;;) {
    freed = false;
    const turn = await reserve.executeWithOptions({ summary: 'take the hold over' }, [jobId]);
    if (turn.outcome !== 'wait') return turn.outcome === 'taken';
    // Jitter, so that runs that began to wait together do not poll together.
    const jitter = 0.75 + Math.random() / 2;
    await condition(() => freed, jitter * Math.min(turn.ahead * POLL_MS.each, POLL_MS.most));
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<(input: { jobId: JobId }) => Promise<unknown>>({ jobId });
    }
  }
}

/**
 * Does a step that a run can do without: its failure is passed over, unless the run is cancelled or its job has ended.
 * @returns false when it failed
 */
export async function orWithout(step: () => Promise<unknown>): Promise<boolean> {
  try {
    await step();
    return true;
  } catch (error) {
    const isOver = isCancellation(error) || CancellationScope.current().consideredCancelled;
    if (isOver || !(error instanceof ActivityFailure) || failureType(error) === 'JobEnded') throw error;
    return false;
  }
}

/** The type an activity gave its failure; undefined for anything else. */
export const failureType = (error: unknown): string | null | undefined =>
  error instanceof ActivityFailure && error.cause instanceof ApplicationFailure
    ? error.cause.type
    : undefined;

interface ProviderFailure {
  readonly kind: ProviderErrorKind;
  readonly message: string;
}

/** A provider's failure; undefined for any other. */
function providerFailure(error: unknown): ProviderFailure | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || cause.type !== 'ProviderError') return undefined;
  return { kind: Object(cause.details?.[0]).kind, message: cause.message };
}

const CAUSES: Readonly<Record<ProviderErrorKind, FailureCause>> = {
  retryable: 'engine',
  unavailable: 'engine',
  misconfigured: 'engine',
  fatal: 'texts',
  refused: 'texts',
  unusable: 'texts',
};

/** What made a run fail (contract.md J12, J13). Lost workers and the database leave failures of other types. */
function causeOf(error: unknown): FailureCause {
  const failure = providerFailure(error);
  if (failure !== undefined) return CAUSES[failure.kind];
  return failureType(error) === 'ReassemblyError' ? 'texts' : 'service';
}

/**
 * The failure as the job's errorMessage. Only a provider's message is written for people. What only an operator can fix
 * stays in the history: customers have no use for the names of our variables.
 */
function messageOf(error: unknown, what: string): string {
  const failure = providerFailure(error);
  if (failure === undefined) {
    return `The ${what} stopped on an internal error. Nothing was charged; start it again.`;
  }
  const { kind, message } = failure;
  if (kind === 'misconfigured') {
    return `The ${what} stopped, because this service's access to its engine is refused. Nothing was charged; the operator of the service has to fix that.`;
  }
  return kind === 'retryable'
    ? `The ${what} stopped, because its engine was busy or out of reach for too long. Nothing was charged; start it again later.`
    : message;
}
