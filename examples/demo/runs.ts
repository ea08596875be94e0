import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { DeliveryId, JobId } from '../../src/ids.ts';
import type { LocalService } from '../../src/local/service.ts';
import { deliveryWorkflowId, translationWorkflowId } from '../../src/temporal/ids.ts';
import { check } from './check.ts';
import type { Findings } from './findings.ts';

const TIMEOUT_MS = 30_000;

/**
 * Insists that the translation and each delivery was a run of its own that completed.
 * @returns the translation's page in the Temporal UI; null without a UI
 */
export async function checkRuns(
  { config, temporalUiUrl }: LocalService,
  { job, deliveries }: Pick<Findings, 'job' | 'deliveries'>,
): Promise<string | null> {
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS });
  try {
    const client = new Client({ connection, namespace: config.TEMPORAL_NAMESPACE });
    const workflowId = translationWorkflowId(job.id as JobId);
    const runId = await untilCompleted(client, workflowId, 'translateArticle');
    for (const { delivery } of deliveries) {
      await untilCompleted(client, deliveryWorkflowId(delivery.id as DeliveryId), 'deliverWebhook');
    }
    if (temporalUiUrl === null) return null;
    const namespace = encodeURIComponent(config.TEMPORAL_NAMESPACE);
    return `${temporalUiUrl}/namespaces/${namespace}/workflows/${workflowId}/${runId}/history`;
  } finally {
    await connection.close();
  }
}

/** The rows are final a moment before the run that wrote them is. */
async function untilCompleted(client: Client, workflowId: string, type: string): Promise<string> {
  const deadline = Date.now() + TIMEOUT_MS;
  for (;;) {
    const run = await client.workflow.getHandle(workflowId).describe();
    check(run.type === type, `the run ${workflowId} is a ${run.type}.`);
    if (run.status.name === 'COMPLETED') return run.runId;
    check(
      run.status.name === 'RUNNING' && Date.now() < deadline,
      `the run ${workflowId} is ${run.status.name}.`,
    );
    await sleep(50);
  }
}
