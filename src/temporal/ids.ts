import type { AiOperationId, BurstId, DeliveryId, JobId } from '../ids.ts';

/** Every workflow id of the service: readable in the Temporal UI, and derived from a row's id, so a run starts once. */
export const translationWorkflowId = (jobId: JobId): string => `translation-${jobId}`;

export const deliveryWorkflowId = (deliveryId: DeliveryId): string => `webhook-delivery-${deliveryId}`;

export const burstWorkflowId = (burstId: BurstId): string => `webhook-burst-${burstId}`;

export const aiOperationWorkflowId = (id: AiOperationId): string => `ai-operation-${id}`;
