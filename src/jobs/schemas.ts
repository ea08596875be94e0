import { z } from 'zod';
import { JOB_STATUSES, JOB_STEPS } from '../db/tables.ts';
import type { JobRow } from './queries.ts';

/** interface.md, Job. */
export const jobSchema = z
  .object({
    id: z.uuid(),
    articleId: z.uuid(),
    workspaceId: z.uuid(),
    projectId: z.uuid(),
    status: z.enum(JOB_STATUSES),
    kind: z.enum(['generation', 'translation']),
    currentStep: z.enum(JOB_STEPS).nullable(),
    progress: z.int().min(0).max(100),
    idempotencyKey: z.string(),
    estimatedCredits: z.int(),
    reservedCredits: z.int(),
    consumedCredits: z.int(),
    errorCode: z.enum(['GENERATION_FAILED', 'TRANSLATION_FAILED']).nullable(),
    errorMessage: z.string().nullable(),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Job' });

export type Job = z.infer<typeof jobSchema>;

/** The wire form of a job's row. */
export const toJob = (row: JobRow): Job => ({
  id: row.id,
  articleId: row.article_id,
  workspaceId: row.workspace_id,
  projectId: row.project_id,
  status: row.status,
  kind: row.kind,
  currentStep: row.current_step,
  progress: row.progress,
  idempotencyKey: row.idempotency_key,
  estimatedCredits: row.estimated_credits,
  reservedCredits: row.reserved_credits,
  consumedCredits: row.consumed_credits,
  errorCode: row.error_code,
  errorMessage: row.error_message,
  createdAt: row.created_at.toISOString(),
});
