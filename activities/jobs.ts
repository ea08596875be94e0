import { cancellationSignal, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Database } from '../src/db/database.ts';
import { inTransaction } from '../src/db/transaction.ts';
import type { JobId } from '../src/ids.ts';
import { type Ending, endJob } from '../src/jobs/end.ts';
import { isJobOpen } from '../src/jobs/run-state.ts';
import { passTurn, takeTurn } from '../src/jobs/turns.ts';
import { ProviderError } from '../src/providers/types.ts';
import type { Turn } from '../src/temporal/shapes.ts';
import type { TemporalClient } from '../src/temporal/workflow-client.ts';
import { asFinalFailure, beat, onLeftOver, providerFailure, whileAway } from './failures.ts';
import { whileBeating } from './heartbeat.ts';

const HEARTBEAT_MS = 5_000;

export interface JobDependencies {
  readonly db: Database;
  readonly client: TemporalClient;
}

/** Ends a job and signals the next one of its workspace, also when the job had already ended. */
export async function ending(
  dependencies: JobDependencies,
  jobId: JobId,
  end: () => Promise<boolean>,
): Promise<boolean> {
  const ended = await asFinalFailure(end);
  await passTurn(dependencies, jobId).catch((error: unknown) =>
    log.warn('the next job was not signalled', { jobId, error }),
  );
  return ended;
}

/** Stops the run of a job that has been cancelled or has ended. */
export async function requireOpen(db: Database, jobId: JobId): Promise<void> {
  if (!(await whileAway(() => isJobOpen(db, jobId)))) throw jobEnded();
}

/** The failure that stops the run of a job that has ended. */
export const jobEnded = (): ApplicationFailure =>
  ApplicationFailure.create({
    type: 'JobEnded',
    message: 'The job has already ended.',
    nonRetryable: true,
    category: 'BENIGN',
  });

/**
 * Calls an engine for an open job, with heartbeats, and turns what it throws into Temporal's form.
 * @param jobs what waits while the engine refuses this deployment, for the log
 */
export const callEngine = <Result>(
  db: Database,
  jobId: JobId,
  jobs: string,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> =>
  whileBeating(HEARTBEAT_MS, beat, async () => {
    beat();
    try {
      await requireOpen(db, jobId);
      return await call(cancellationSignal());
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
  const { db } = dependencies;
  const endWithoutResult = (jobId: JobId, end: Ending): Promise<boolean> =>
    ending(dependencies, jobId, async () => {
      const ended = await inTransaction(db, (tx) => endJob(tx, jobId, { ...end, onLeftOver }));
      return ended !== null;
    });
  return {
    /** Takes over the hold when it is the job's turn among those of its workspace. */
    reserve: (jobId: JobId): Promise<Turn> => asFinalFailure(() => takeTurn(db, jobId)),

    /** Ends the job as FAILED; false when it had already ended. */
    fail: (jobId: JobId, errorMessage: string): Promise<boolean> =>
      endWithoutResult(jobId, { status: 'FAILED', errorMessage }),

    /** Ends the job as CANCELLED; false when it had already ended. */
    cancel: (jobId: JobId): Promise<boolean> => endWithoutResult(jobId, { status: 'CANCELLED' }),
  };
}
