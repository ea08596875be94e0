import type { BurstId } from '../../ids.ts';
import { burstWorkflowId } from '../../temporal/ids.ts';
import type { TaskQueues } from '../../temporal/task-queues.ts';
import { startOnce, type TemporalClient } from '../../temporal/workflow-client.ts';

const DEADLINE_MS = 10_000;

/** Starts a run that sends first attempts straight from the outbox. It claims for itself, so a lost start loses nothing. */
export function startBurst(client: TemporalClient, names: TaskQueues, burstId: BurstId): Promise<boolean> {
  return startOnce(client, 'deliverBurst', {
    deadlineMs: DEADLINE_MS,
    taskQueue: names.webhooks,
    workflowId: burstWorkflowId(burstId),
    args: [{ burstId }],
    staticSummary: 'first attempts of a backlog',
    requestEagerStart: true,
    typedSearchAttributes: [],
  });
}
