import type { AiOperationId, BurstId, DeliveryId, JobId } from '../ids.ts';

/** Every workflow id of the service: readable in the Temporal UI, and derived from a row's id, so a run starts once. */
export const translationWorkflowId = (jobId: JobId): string => `translation-${jobId}`;

export const refreshWorkflowId = (jobId: JobId): string => `refresh-${jobId}`;

export const generationWorkflowId = (jobId: JobId): string => `generation-${jobId}`;

export const imageWorkflowId = (jobId: JobId): string => `image-${jobId}`;

export const deliveryWorkflowId = (deliveryId: DeliveryId): string => `webhook-delivery-${deliveryId}`;

export const burstWorkflowId = (burstId: BurstId): string => `webhook-burst-${burstId}`;

export const aiOperationWorkflowId = (id: AiOperationId): string => `ai-operation-${id}`;

/** What a run's id begins with, and the name under which our own lines log the rest. */
const FIELDS = [
  [translationWorkflowId('' as JobId), 'jobId'],
  [refreshWorkflowId('' as JobId), 'jobId'],
  [generationWorkflowId('' as JobId), 'jobId'],
  [imageWorkflowId('' as JobId), 'jobId'],
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
