import type { Selectable } from 'kysely';
import type { Logger } from 'pino';
import type { OnLeftOver } from '../db/savepoint.ts';
import type { Tables } from '../db/tables.ts';
import { translationWorkflowId } from '../temporal/ids.ts';
import { searchAttributes } from '../temporal/search-attributes.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { cancelRun, startOnce, type TemporalClient } from '../temporal/workflow-client.ts';

const DEADLINE_MS = 2_000;

/** What a run is started with: its job, and the languages of its translation. */
export type TranslationJob = Pick<
  Selectable<Tables['jobs']>,
  'id' | 'workspace_id' | 'article_id' | 'request_id'
> &
  Pick<Selectable<Tables['translations']>, 'source_language' | 'target_language'>;

/** Starts the run of a committed job; a job whose start fails is found by `reconcile`. */
export const startTranslation = (
  client: TemporalClient,
  names: TaskQueues,
  job: TranslationJob,
): Promise<boolean> =>
  startOnce(client, 'translateArticle', {
    deadlineMs: DEADLINE_MS,
    taskQueue: names.translation,
    workflowId: translationWorkflowId(job.id),
    args: [{ jobId: job.id }],
    // Ids and languages only: access to Temporal must not give access to what customers write.
    staticSummary: `translate ${job.article_id}: ${job.source_language} → ${job.target_language}`,
    memo: { requestId: job.request_id ?? '', jobId: job.id },
    typedSearchAttributes: [
      { key: searchAttributes.workspaceId, value: job.workspace_id },
      { key: searchAttributes.articleId, value: job.article_id },
      { key: searchAttributes.jobKind, value: 'translation' },
    ],
  });

type Row = Pick<TranslationJob, 'id' | 'workspace_id'>;

/** What verbs do about runs once they have committed. It never fails: the rows have decided. */
export interface TranslationRuns {
  start(job: TranslationJob): Promise<void>;
  cancel(job: Row, requestId: string): Promise<void>;
  /** Logs what the end of a job could not give back. */
  readonly onLeftOver: OnLeftOver;
}

export interface TranslationRunDependencies {
  readonly client: TemporalClient;
  readonly names: TaskQueues;
  readonly logger: Logger;
}

/** The runs of a process that answers requests. */
export function createTranslationRuns({
  client,
  names,
  logger,
}: TranslationRunDependencies): TranslationRuns {
  const attempt = async (job: Row, requestId: string | null, call: Promise<unknown>, message: string) => {
    try {
      await call;
    } catch (err) {
      logger.warn({ err, requestId, workspaceId: job.workspace_id, jobId: job.id }, message);
    }
  };
  return {
    // Reconcile starts what could not be started here.
    start: (job) =>
      attempt(
        job,
        job.request_id,
        startTranslation(client, names, job),
        'translation queued, but its run not started yet',
      ),
    // A run that is not reached stops at its next step.
    cancel: (job, requestId) =>
      attempt(
        job,
        requestId,
        cancelRun(client, translationWorkflowId(job.id)),
        'run of a cancelled job not reached',
      ),
    onLeftOver: (part, err) => logger.error({ err, part }, 'ended, but some of the clean-up failed'),
  };
}
