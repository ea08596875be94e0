import type { BurstId } from '../../ids.ts';
import { burstWorkflowId, deliveryWorkflowId } from '../../temporal/ids.ts';
import { searchAttributes } from '../../temporal/search-attributes.ts';
import type { TaskQueues } from '../../temporal/task-queues.ts';
import { startOnce, type TemporalClient } from '../../temporal/workflow-client.ts';
import { MAX_ATTEMPTS } from '../attempts/schedule.ts';
import type { StartedDelivery } from '../deliveries/read-open.ts';
import { receiverOf } from '../endpoints/queries.ts';

const DEADLINE_MS = 10_000;

/**
 * Starts the run of a due delivery, eagerly on this process's own worker.
 * @returns false when it was started before
 * @throws when the server can't be reached within ten seconds
 */
export const startDelivery = (
  client: TemporalClient,
  names: TaskQueues,
  delivery: StartedDelivery,
): Promise<boolean> =>
  startOnce(client, 'deliverWebhook', {
    deadlineMs: DEADLINE_MS,
    taskQueue: names.webhooks,
    workflowId: deliveryWorkflowId(delivery.id),
    // A delivery whose sixth attempt has begun is ended by its run, which needs an attempt to do so.
    args: [{ deliveryId: delivery.id, offset: Math.min(delivery.attempts, MAX_ATTEMPTS - 1) }],
    staticSummary: `${delivery.eventType} → ${receiverOf(delivery.url)}`,
    memo: { requestId: delivery.requestId ?? '', endpointId: delivery.endpointId },
    requestEagerStart: true,
    typedSearchAttributes: [
      { key: searchAttributes.workspaceId, value: delivery.workspaceId },
      { key: searchAttributes.endpointId, value: delivery.endpointId },
      { key: searchAttributes.eventType, value: delivery.eventType },
      ...(delivery.articleId === null
        ? []
        : [{ key: searchAttributes.articleId, value: delivery.articleId }]),
    ],
  });

/** Starts a run that sends whatever is due. It claims for itself, so a lost start loses nothing. */
export const startBurst = (client: TemporalClient, names: TaskQueues, burstId: BurstId): Promise<boolean> =>
  startOnce(client, 'deliverBurst', {
    deadlineMs: DEADLINE_MS,
    taskQueue: names.bursts,
    workflowId: burstWorkflowId(burstId),
    args: [{ burstId }],
    staticSummary: 'deliveries that are due',
    requestEagerStart: true,
    typedSearchAttributes: [],
  });
