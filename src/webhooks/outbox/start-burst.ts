import type { BurstId } from '../../ids.ts';
import { burstWorkflowId } from '../../temporal/ids.ts';
import type { TemporalNames } from '../../temporal/names.ts';
import { startOnce, type TemporalClient } from '../../temporal/runs.ts';

const DEADLINE_MS = 10_000;

/** Starts a run that sends first attempts straight from the outbox. It claims for itself, so a lost start loses nothing. */
export function startBurst(client: TemporalClient, names: TemporalNames, burstId: BurstId): Promise<boolean> {
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
