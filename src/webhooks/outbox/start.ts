import { deliveryWorkflowId } from '../../temporal/ids.ts';
import { searchAttributes } from '../../temporal/search-attributes.ts';
import type { TaskQueues } from '../../temporal/task-queues.ts';
import { startOnce, type TemporalClient } from '../../temporal/workflow-client.ts';
import type { ClaimedDelivery } from './claim.ts';

const DEADLINE_MS = 10_000;

/** The receiver as an operator may see it: paths and queries can carry tokens. */
const hostOf = (url: string): string => URL.parse(url)?.host ?? 'unknown host';

/**
 * Starts the run of a claimed delivery: eagerly on this process's own worker when it is due, and after
 * what is left of its wait when it comes back in the middle of its schedule.
 */
export function startDelivery(
  client: TemporalClient,
  names: TaskQueues,
  delivery: ClaimedDelivery,
): Promise<boolean> {
  const wait = delivery.attempts === 0 ? 0 : (delivery.next_attempt_at?.getTime() ?? 0) - Date.now();
  return startOnce(client, 'deliverWebhook', {
    deadlineMs: DEADLINE_MS,
    taskQueue: names.webhooks,
    workflowId: deliveryWorkflowId(delivery.id),
    args: [{ deliveryId: delivery.id, offset: delivery.attempts }],
    staticSummary: `${delivery.event_type} → ${hostOf(delivery.url)}`,
    memo: { requestId: delivery.request_id ?? '', endpointId: delivery.endpoint_id },
    ...(wait > 0 ? { startDelay: wait } : { requestEagerStart: true }),
    typedSearchAttributes: [
      { key: searchAttributes.workspaceId, value: delivery.workspace_id },
      { key: searchAttributes.endpointId, value: delivery.endpoint_id },
      { key: searchAttributes.eventType, value: delivery.event_type },
      ...(delivery.article_id === null
        ? []
        : [{ key: searchAttributes.articleId, value: delivery.article_id }]),
    ],
  });
}
