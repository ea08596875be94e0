import type { Selectable } from 'kysely';
import type { Database, Tx } from '../db/database.ts';
import type { JobPurpose, Tables, UnpaidReason } from '../db/tables.ts';
import type { JobId } from '../ids.ts';
import { searchAttributes } from '../temporal/search-attributes.ts';
import { PARALLEL_BATCHES } from '../temporal/shapes.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { startOnce, type TemporalClient, workspaceShare } from '../temporal/workflow-client.ts';
import { continuing } from '../tracing/spans.ts';
import { PURPOSES } from './purposes.ts';

const DEADLINE_MS = 2_000;

/** What starting a run needs of its job. */
export type StartableJob = Pick<
  Selectable<Tables['jobs']>,
  'id' | 'workspace_id' | 'article_id' | 'purpose' | 'workflow_id' | 'request_id' | 'traceparent'
>;

export interface StartDependencies {
  readonly db: Database;
  readonly client: TemporalClient;
  readonly names: TaskQueues;
}

/** What an area provides for the jobs of its purpose. */
export interface JobArea {
  /**
   * Starts the run of a committed job under its workflow id, which is used once.
   * @returns false when it was started before
   * @throws when it could not; `reconcile` tries again
   */
  readonly start: (dependencies: StartDependencies, job: StartableJob) => Promise<boolean>;
  /** Words that an engine has made, or is making, for a job; for one that failed, those that it declined, too. */
  readonly wordsMade: (tx: Tx, jobId: JobId, ended: UnpaidReason) => Promise<number>;
}

/** Jobs of a purpose without an area here belong to a later release, which runs them. */
export type JobAreas = Readonly<Partial<Record<JobPurpose, JobArea>>>;

/** Starts the run of a job under its workflow id. @returns false when it was started before */
export async function startRun(
  { db, client }: Pick<StartDependencies, 'db' | 'client'>,
  job: StartableJob,
  run: {
    readonly workflow: 'translateArticle' | 'refreshTranslation' | 'generateArticle' | 'regenerateImage';
    readonly taskQueue: string;
    readonly summary: string;
  },
): Promise<boolean> {
  const weight = (await isOnlyJob(db, job)) ? PARALLEL_BATCHES : 1;
  const start = () =>
    startOnce(client, run.workflow, {
      deadlineMs: DEADLINE_MS,
      taskQueue: run.taskQueue,
      workflowId: job.workflow_id,
      args: [{ jobId: job.id }],
      staticSummary: run.summary,
      priority: workspaceShare(job.workspace_id, weight),
      memo: { requestId: job.request_id ?? '', jobId: job.id },
      typedSearchAttributes: [
        { key: searchAttributes.workspaceId, value: job.workspace_id },
        { key: searchAttributes.articleId, value: job.article_id },
        { key: searchAttributes.jobKind, value: PURPOSES[job.purpose].kind },
      ],
    });
  return job.traceparent === null ? start() : continuing(job.traceparent, start);
}

/** Whether the workspace has no other open job. */
async function isOnlyJob(db: Database, { id, workspace_id }: StartableJob): Promise<boolean> {
  const other = await db
    .selectFrom('jobs')
    .select('id')
    .where('workspace_id', '=', workspace_id)
    .where('ended_at', 'is', null)
    .where('id', '!=', id)
    .limit(1)
    .executeTakeFirst();
  return other === undefined;
}
