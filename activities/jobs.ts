import { cancellationSignal, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Database } from '../src/db/database.ts';
import { inSavepoint } from '../src/db/savepoint.ts';
import { inTransaction } from '../src/db/transaction.ts';
import type { JobId, WorkspaceId } from '../src/ids.ts';
import { type Ending, endJob } from '../src/jobs/end.ts';
import { openJobOf } from '../src/jobs/run-state.ts';
import { passTurn, type TurnDependencies, type TurnLimits, takeTurn } from '../src/jobs/turns.ts';
import { countUnpaid } from '../src/jobs/unpaid.ts';
import type { Pauses } from '../src/providers/pauses.ts';
import { ProviderError } from '../src/providers/types.ts';
import type { FailureCause, Turn } from '../src/temporal/shapes.ts';
import { asFinalFailure, beat, onLeftOver, providerFailure, whileAway } from './failures.ts';
import { whileBeating } from './heartbeat.ts';

/** How often an activity that may take long says that it lives. */
export const HEARTBEAT_MS = 5_000;

export interface JobDependencies extends TurnDependencies, TurnLimits {
  /** Aborted when a worker that stops interrupts its calls of engines; its reason is what they fail with. */
  readonly stopping?: AbortSignal | undefined;
}

/** Ends a job and signals the next one of its workspace, also when the job had already ended. */
export async function ending<Ended>(
  dependencies: JobDependencies,
  jobId: JobId,
  end: () => Promise<Ended>,
): Promise<Ended> {
  const ended = await asFinalFailure(end);
  await signalNext(dependencies, jobId);
  return ended;
}

const signalNext = (dependencies: JobDependencies, jobId: JobId): Promise<void> =>
  passTurn(dependencies, jobId).catch((error: unknown) =>
    log.warn('the next job was not signalled', { jobId, error }),
  );

/** Stops the run of a job that has been cancelled or has ended; returns the workspace of one that has not. */
export async function requireOpen(db: Database, jobId: JobId): Promise<WorkspaceId> {
  const workspace = await whileAway(() => openJobOf(db, jobId));
  if (workspace === undefined) throw jobEnded();
  return workspace;
}

/** The failure that stops the run of a job that has ended. */
export const jobEnded = (): ApplicationFailure =>
  ApplicationFailure.create({
    type: 'JobEnded',
    message: 'The job has already ended.',
    nonRetryable: true,
    category: 'BENIGN',
  });

/** An engine that activities call. */
export interface CalledEngine extends Pick<JobDependencies, 'db' | 'stopping'> {
  readonly pauses: Pauses;
  /** What waits while the engine refuses this deployment, for the log. */
  readonly jobs: string;
}

/**
 * Calls an engine for an open job whose workspace does not pause, with heartbeats, and turns what it throws into
 * Temporal's form.
 */
export const callEngine = <Result>(
  { db, pauses, jobs, stopping }: CalledEngine,
  jobId: JobId,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> =>
  whileBeating(HEARTBEAT_MS, beat, async () => {
    beat();
    const signal = cancellationSignal();
    try {
      const workspace = await requireOpen(db, jobId);
      return await pauses.run(workspace, () =>
        call(stopping === undefined ? signal : AbortSignal.any([signal, stopping])),
      );
    } catch (error) {
      if (error instanceof ProviderError && error.kind === 'misconfigured') {
        log.error(`the engine rejects our settings: ${jobs} are waiting`, { error: error.message });
      }
      throw providerFailure(error, ['retryable', 'misconfigured']);
    }
  });

export type JobActivities = ReturnType<typeof createJobActivities>;

/** The activities that the runs of all paid jobs share. Each is idempotent: it may run again after a crash. */
export function createJobActivities(dependencies: JobDependencies) {
  const { db, areas } = dependencies;
  const endWithoutResult = (jobId: JobId, end: Ending, cause?: FailureCause): Promise<boolean> =>
    ending(dependencies, jobId, () =>
      inTransaction(db, async (tx) => {
        const ended = await endJob(tx, jobId, { ...end, onLeftOver });
        if (ended === null) return false;
        if (cause === 'texts') {
          await inSavepoint(
            tx,
            () => countUnpaid(tx, areas, ended, 'failed'),
            (error) => onLeftOver(`unpaid work of job ${jobId}`, error),
          );
        }
        return true;
      }),
    );
  return {
    /** Takes over the hold when it is the job's turn among those of its workspace, or ends a job that may not begin. */
    reserve: async (jobId: JobId): Promise<Turn> => {
      const turn = await asFinalFailure(() => takeTurn(db, jobId, dependencies, onLeftOver));
      if (turn.outcome === 'refused') await signalNext(dependencies, jobId);
      return turn;
    },

    /** Ends the job as FAILED, with its words counted when its texts were the cause; false when it had already ended. */
    fail: (jobId: JobId, errorMessage: string, cause: FailureCause): Promise<boolean> =>
      endWithoutResult(jobId, { status: 'FAILED', errorMessage }, cause),

    /** Ends the job as CANCELLED; false when it had already ended. */
    cancel: (jobId: JobId): Promise<boolean> => endWithoutResult(jobId, { status: 'CANCELLED' }),
  };
}
