import { cancellationSignal, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Database } from '../src/db/database.ts';
import { inTransaction } from '../src/db/transaction.ts';
import type { JobId, WorkspaceId } from '../src/ids.ts';
import { type Ending, endJob } from '../src/jobs/end.ts';
import { openJobOf } from '../src/jobs/run-state.ts';
import { passTurn, takeTurn } from '../src/jobs/turns.ts';
import type { Pauses } from '../src/providers/pauses.ts';
import { ProviderError } from '../src/providers/types.ts';
import type { Turn } from '../src/temporal/shapes.ts';
import type { TemporalClient } from '../src/temporal/workflow-client.ts';
import { asFinalFailure, beat, onLeftOver, providerFailure, whileAway } from './failures.ts';
import { whileBeating } from './heartbeat.ts';

const HEARTBEAT_MS = 5_000;

export interface JobDependencies {
  readonly db: Database;
  readonly client: TemporalClient;
  /** Calls of engines that a worker makes at once. */
  readonly engineSlots: number;
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
export interface CalledEngine {
  readonly db: Database;
  readonly pauses: Pauses;
  /** What waits while the engine refuses this deployment, for the log. */
  readonly jobs: string;
}

/**
 * Calls an engine for an open job whose workspace does not pause, with heartbeats, and turns what it throws into
 * Temporal's form.
 */
export const callEngine = <Result>(
  { db, pauses, jobs }: CalledEngine,
  jobId: JobId,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> =>
  whileBeating(HEARTBEAT_MS, beat, async () => {
    beat();
    try {
      const workspace = await requireOpen(db, jobId);
      return await pauses.run(workspace, () => call(cancellationSignal()));
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
  const { db, engineSlots } = dependencies;
  const endWithoutResult = (jobId: JobId, end: Ending): Promise<boolean> =>
    ending(dependencies, jobId, async () => {
      const ended = await inTransaction(db, (tx) => endJob(tx, jobId, { ...end, onLeftOver }));
      return ended !== null;
    });
  return {
    /** Takes over the hold when it is the job's turn among those of its workspace. */
    reserve: (jobId: JobId): Promise<Turn> => asFinalFailure(() => takeTurn(db, jobId, engineSlots)),

    /** Ends the job as FAILED; false when it had already ended. */
    fail: (jobId: JobId, errorMessage: string): Promise<boolean> =>
      endWithoutResult(jobId, { status: 'FAILED', errorMessage }),

    /** Ends the job as CANCELLED; false when it had already ended. */
    cancel: (jobId: JobId): Promise<boolean> => endWithoutResult(jobId, { status: 'CANCELLED' }),
  };
}
