import type { AiOperationId, BurstId, DeliveryId, JobId } from '../ids.ts';
import { aiOperationWorkflowId, burstWorkflowId, deliveryWorkflowId, translationWorkflowId } from './ids.ts';

/** What a run's id begins with, and the name under which our own lines log the rest. */
const FIELDS = [
  [translationWorkflowId('' as JobId), 'jobId'],
  [burstWorkflowId('' as BurstId), 'burstId'],
  [deliveryWorkflowId('' as DeliveryId), 'deliveryId'],
  [aiOperationWorkflowId('' as AiOperationId), 'operationId'],
] as const;

/** The id of the row that a run is about, under the name that every other line of the log has for it. */
export function rowOfRun(workflowId: unknown): Readonly<Record<string, string>> {
  if (typeof workflowId !== 'string') return {};
  for (const [prefix, field] of FIELDS) {
    if (workflowId.startsWith(prefix)) return { [field]: workflowId.slice(prefix.length) };
  }
  return {};
}
