import type { Selectable } from 'kysely';
import type { Logger } from 'pino';
import type { Database, Tx } from '../db/database.ts';
import { asService } from '../db/guard.ts';
import type { OnLeftOver } from '../db/savepoint.ts';
import type { JobPurpose, Tables, UnpaidReason } from '../db/tables.ts';
import type { JobId } from '../ids.ts';
import { searchAttributes } from '../temporal/search-attributes.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { cancelRun, startOnce, type TemporalClient, workspaceShare } from '../temporal/workflow-client.ts';
import { PURPOSES } from './purposes.ts';
import { passTurn } from './turns.ts';

const DEADLINE_MS = 2_000;

type Columns = Selectable<Tables['jobs']>;

/** What starting a run needs of its job. */
export type StartableJob = Pick<
  Columns,
  'id' | 'workspace_id' | 'article_id' | 'purpose' | 'workflow_id' | 'request_id'
>;
type CancellableJob = Pick<Columns, 'id' | 'workspace_id' | 'workflow_id'>;

export interface StartDependencies {
  readonly db: Database;
  readonly client: TemporalClient;
  readonly names: TaskQueues;
}

/**
 * Starts the run of a committed job under its workflow id, which is used once.
 * @throws when it could not; `reconcile` tries again
 */
export type StartJob = (dependencies: StartDependencies, job: StartableJob) => Promise<unknown>;

/** Starts the run of a job under its workflow id. @returns false when it was started before */
export const startRun = (
  client: TemporalClient,
  job: StartableJob,
  run: {
    readonly workflow: 'translateArticle' | 'refreshTranslation' | 'generateArticle';
    readonly taskQueue: string;
    readonly summary: string;
  },
): Promise<boolean> =>
  startOnce(client, run.workflow, {
    deadlineMs: DEADLINE_MS,
    taskQueue: run.taskQueue,
    workflowId: job.workflow_id,
    args: [{ jobId: job.id }],
    staticSummary: run.summary,
    priority: workspaceShare(job.workspace_id),
    memo: { requestId: job.request_id ?? '', jobId: job.id },
    typedSearchAttributes: [
      { key: searchAttributes.workspaceId, value: job.workspace_id },
      { key: searchAttributes.articleId, value: job.article_id },
      { key: searchAttributes.jobKind, value: PURPOSES[job.purpose].kind },
    ],
  });

/** What an area provides for the jobs of its purpose. */
export interface JobArea {
  readonly start: StartJob;
  /** Words that an engine has made, or is making, for a job; for one that failed, those that it declined, too. */
  readonly wordsMade: (tx: Tx, jobId: JobId, ended: UnpaidReason) => Promise<number>;
}

/** Jobs of a purpose without an area here belong to a later release, which runs them. */
export type JobAreas = Readonly<Partial<Record<JobPurpose, JobArea>>>;

/** What verbs do with runs after their commit, as the service. Never fails: the rows have decided. */
export interface JobRuns {
  start(db: Database, job: StartableJob): Promise<void>;
  cancel(db: Database, job: CancellableJob, requestId: string): Promise<void>;
  /** Logs a part of a job's end that failed. */
  readonly onLeftOver: OnLeftOver;
  readonly areas: JobAreas;
  /** Unpaid words of cancelled runs in 24 hours above which none begins; of failed ones five times as many. 0: none. */
  readonly unbilledLimit: number;
}

export interface JobRunDependencies {
  readonly client: TemporalClient;
  readonly names: TaskQueues;
  readonly areas: JobAreas;
  readonly unbilledLimit: number;
  readonly logger: Logger;
}

/** The runs of a process that serves requests. */
export function createJobRuns({ client, names, areas, unbilledLimit, logger }: JobRunDependencies): JobRuns {
  const attempt = async (
    job: CancellableJob,
    requestId: string | null,
    call: Promise<unknown> | undefined,
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
        areas[job.purpose]?.start({ db: asService(db), client, names }, job),
        'job queued, but its run not started yet',
      ),
    // A run that is not reached stops at its next step. One that is reached lets its calls end before the next job gets
    // its turn.
    cancel: (db, job, requestId) =>
      attempt(
        job,
        requestId,
        Promise.all([cancelRun(client, job.workflow_id), passTurn({ db: asService(db), client }, job.id)]),
        'run of a cancelled job not reached',
      ),
    onLeftOver: (part, err) => logger.error({ err, part }, 'ended, but some of the clean-up failed'),
    areas,
    unbilledLimit,
  };
}
