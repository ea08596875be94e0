import { z } from 'zod';
import { JOB_STATUSES, JOB_STEPS } from '../db/tables.ts';

/** contract.md J1. */
export const jobSchema = z
  .object({
    id: z.uuid(),
    articleId: z.uuid().describe('The article that the run writes'),
    workspaceId: z.uuid(),
    projectId: z.uuid(),
    status: z.enum(JOB_STATUSES),
    kind: z.enum(['generation', 'translation']),
    currentStep: z.enum(JOB_STEPS).nullable().describe('The current step; null while QUEUED'),
    progress: z.int().min(0).max(100).describe('Per cent, by finished steps'),
    idempotencyKey: z
      .string()
      .describe('The key it was started with; a repeated request with this key returns this job'),
    estimatedCredits: z.int().describe('The maximum price of the run'),
    reservedCredits: z.int().describe('What was held for it; stays as it was when the hold ends'),
    consumedCredits: z
      .int()
      .describe('What was charged; 0 until the run has completed, and when it failed or was cancelled'),
    errorCode: z
      .enum(['GENERATION_FAILED', 'TRANSLATION_FAILED'])
      .nullable()
      .describe('Set when the status is FAILED'),
    errorMessage: z.string().nullable().describe('Why it failed, in a sentence'),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Job' });

export type Job = z.infer<typeof jobSchema>;
