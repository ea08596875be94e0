import type { Selectable } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { asService } from '../db/guard.ts';
import type { OnLeftOver } from '../db/savepoint.ts';
import type { Tables } from '../db/tables.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { cancelRun, type TemporalClient } from '../temporal/workflow-client.ts';
import type { JobAreas, StartableJob } from './start.ts';
import { passTurn, startIfNext, type TurnLimits } from './turns.ts';

type CancellableJob = Pick<Selectable<Tables['jobs']>, 'id' | 'workspace_id' | 'workflow_id'>;

/** What verbs do with runs after their commit, as the service. Never fails: the rows have decided. */
export interface JobRuns extends Pick<TurnLimits, 'unbilledLimit'> {
  /** Starts the run of a job whose turn can come; the end of another job starts the others. */
  start(db: Database, job: StartableJob): Promise<void>;
  cancel(db: Database, job: CancellableJob, requestId: string): Promise<void>;
  /** Logs a part of a job's end that failed. */
  readonly onLeftOver: OnLeftOver;
  readonly areas: JobAreas;
}

export interface JobRunDependencies extends TurnLimits {
  readonly client: TemporalClient;
  readonly names: TaskQueues;
  readonly areas: JobAreas;
  readonly logger: Logger;
}

/** The runs of a process that serves requests. */
export function createJobRuns({ logger, ...dependencies }: JobRunDependencies): JobRuns {
  const { client, areas, unbilledLimit } = dependencies;
  const attempt = async (
    job: CancellableJob,
    requestId: string | null,
    call: Promise<unknown>,
    message: string,
  ) => {
    try {
      await call;
    } catch (err) {
      logger.warn({ err, requestId, workspaceId: job.workspace_id, jobId: job.id }, message);
    }
  };
  return {
    // Reconcile starts what could not be started here.
    start: (db, job) =>
      attempt(
        job,
        job.request_id,
        startIfNext({ ...dependencies, db: asService(db) }, job),
        'job queued, but its run not started yet',
      ),
    // A run that is not reached stops at its next step. One that is reached lets its calls end before the next job gets
    // its turn.
    cancel: (db, job, requestId) =>
      attempt(
        job,
        requestId,
        Promise.all([
          cancelRun(client, job.workflow_id),
          passTurn({ ...dependencies, db: asService(db) }, job.id),
        ]),
        'run of a cancelled job not reached',
      ),
    onLeftOver: (part, err) => logger.error({ err, part }, 'ended, but some of the clean-up failed'),
    areas,
    unbilledLimit,
  };
}
