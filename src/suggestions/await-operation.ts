/** Starts the run of a paid request, waits for it, and reads its result from the row. */
import { WorkflowFailedError } from '@temporalio/client';
import type { Logger } from 'pino';
import type { VerbContext } from '../context.ts';
import { asService } from '../db/guard.ts';
import type { AiOperationKind, Suggestions } from '../db/suggestions.ts';
import { unavailable } from '../errors.ts';
import type { ArticleId } from '../ids.ts';
import { aiOperationWorkflowId } from '../temporal/ids.ts';
import { searchAttributes } from '../temporal/search-attributes.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { cancelRun, startOnce, type TemporalClient, workspaceShare } from '../temporal/workflow-client.ts';
import { type OperationEnd, type ReservedOperation, readEnd, releaseOperation } from './operations.ts';

const START_DEADLINE_MS = 5_000;

export interface RunDependencies {
  readonly client: TemporalClient;
  readonly names: TaskQueues;
  readonly logger: Logger;
  /** Milliseconds that a request waits for its result, at most 60,000. */
  readonly aiWaitMs: number;
}

/** The suggestions and their charge; null when nothing usable came back. */
export interface PaidResult {
  readonly suggestions: Suggestions | null;
  readonly credits: number;
}

const SUMMARIES: Record<AiOperationKind, string> = {
  article_categories: 'suggest categories for article',
  project_categories: 'suggest categories for project',
  category_names: 'suggest names of category',
};

/**
 * Runs a reserved operation and waits for its end. The row decides how it ended: after a timeout, or when Temporal is
 * unreachable, the hold is released, unless the run has already settled.
 * @throws {ServiceError} SERVICE_UNAVAILABLE without a result; nothing is charged
 */
export async function runOperation(
  dependencies: RunDependencies,
  { db, requestId }: Pick<VerbContext, 'db' | 'requestId'>,
  operation: ReservedOperation,
): Promise<PaidResult> {
  const { client, logger } = dependencies;
  const cause = await awaitRun(dependencies, operation, requestId);
  const end = (await readEnd(db, operation.id)) ?? (await giveUp(db, operation, logger));
  switch (end.status) {
    case 'settled':
      return { suggestions: end.suggestions, credits: end.credits };
    case 'empty':
      return { suggestions: null, credits: 0 };
    case 'failed': {
      logger.warn({ err: cause, requestId, operationId: operation.id }, 'paid operation without a result');
      // The result is no longer needed.
      if (!(cause instanceof WorkflowFailedError)) {
        cancelRun(client, aiOperationWorkflowId(operation.id)).catch(() => undefined);
      }
      throw unavailable('model', 'No suggestions could be made now. Nothing was charged; try again shortly.');
    }
  }
}

/** Starts the run and waits for its end. @returns the error when that failed */
async function awaitRun(
  { client, names, aiWaitMs }: RunDependencies,
  operation: ReservedOperation,
  requestId: string,
): Promise<unknown> {
  const deadline = Date.now() + aiWaitMs;
  const workflowId = aiOperationWorkflowId(operation.id);
  try {
    await startOnce(client, 'aiOperation', {
      deadlineMs: Math.min(START_DEADLINE_MS, aiWaitMs),
      taskQueue: names.ai,
      workflowId,
      // Workflow tasks take milliseconds; one lost with its worker is retried while the request still waits.
      workflowTaskTimeout: '5 seconds',
      args: [{ operationId: operation.id }],
      staticSummary: `${SUMMARIES[operation.kind]} ${operation.targetId}`,
      memo: { requestId, operationId: operation.id },
      priority: workspaceShare(operation.workspaceId),
      typedSearchAttributes: [
        { key: searchAttributes.workspaceId, value: operation.workspaceId },
        { key: searchAttributes.jobKind, value: operation.kind },
        ...(operation.kind === 'article_categories'
          ? [{ key: searchAttributes.articleId, value: operation.targetId as ArticleId }]
          : []),
      ],
    });
    await client.withDeadline(deadline, () => client.workflow.getHandle(workflowId).result());
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Releases the operation if it is still open, as the service: whatever its caller may do by now. */
async function giveUp(
  db: VerbContext['db'],
  { id }: ReservedOperation,
  logger: Logger,
): Promise<OperationEnd> {
  await releaseOperation(asService(db), id, 'failed', (part, error) =>
    logger.error({ err: error, operationId: id, part }, 'ended, but some of the clean-up failed'),
  );
  return (await readEnd(db, id)) ?? { status: 'failed' };
}
