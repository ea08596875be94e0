import type { ArticleId, JobId, WorkspaceId } from '../ids.ts';
import { translationWorkflowId } from '../temporal/ids.ts';
import type { TemporalNames } from '../temporal/names.ts';
import { startOnce, type TemporalClient } from '../temporal/runs.ts';
import { searchAttributes } from '../temporal/search-attributes.ts';

const DEADLINE_MS = 2_000;

export interface TranslationRun {
  readonly jobId: JobId;
  readonly workspaceId: WorkspaceId;
  readonly articleId: ArticleId;
  readonly requestId: string | null;
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
}

/** Starts the run of a committed job; a job whose start fails is found by `reconcile`. */
export const startTranslation = (
  client: TemporalClient,
  names: TemporalNames,
  run: TranslationRun,
): Promise<boolean> =>
  startOnce(client, 'translateArticle', {
    deadlineMs: DEADLINE_MS,
    taskQueue: names.translation,
    workflowId: translationWorkflowId(run.jobId),
    args: [{ jobId: run.jobId }],
    // Ids and languages alone: whoever may look into Temporal has not been given what customers write.
    staticSummary: `translate ${run.articleId}: ${run.sourceLanguage} → ${run.targetLanguage}`,
    memo: { requestId: run.requestId ?? '', jobId: run.jobId },
    typedSearchAttributes: [
      { key: searchAttributes.workspaceId, value: run.workspaceId },
      { key: searchAttributes.articleId, value: run.articleId },
      { key: searchAttributes.jobKind, value: 'translation' },
    ],
  });
