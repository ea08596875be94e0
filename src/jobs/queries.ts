import type { Selectable } from 'kysely';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inLivingProject } from '../db/living-projects.ts';
import type { JobPurpose, Tables } from '../db/tables.ts';
import { notFound } from '../errors.ts';
import { etagOfJson } from '../http/etag.ts';
import { type PageRequest, readPage } from '../http/paging.ts';
import type { ArticleId, JobId } from '../ids.ts';
import type { Job } from './schemas.ts';

/** The columns of a job's response. */
export const jobColumns = [
  'id',
  'article_id',
  'workspace_id',
  'project_id',
  'status',
  'kind',
  'current_step',
  'progress',
  'idempotency_key',
  'estimated_credits',
  'reserved_credits',
  'consumed_credits',
  'error_code',
  'error_message',
  'created_at',
] as const satisfies readonly (keyof Tables['jobs'])[];

export type JobRow = Pick<Selectable<Tables['jobs']>, (typeof jobColumns)[number]>;

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

/** The entity tag of a job's response. */
export const jobTag = (job: Job): string => etagOfJson(JSON.stringify(job));

/** True for a job that has ended. */
export const isFinal = ({ status }: Job): boolean => ['COMPLETED', 'FAILED', 'CANCELLED'].includes(status);

/** One page of the jobs that write an article, newest first (articles.read). */
export async function listJobs(
  { db, actor }: VerbContext,
  articleId: ArticleId,
  page: PageRequest<JobId>,
): Promise<{ jobs: Job[]; nextCursor: string | null }> {
  requirePermissions(actor, 'articles.read');
  const query = db
    .selectFrom('jobs')
    .select(jobColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId);
  const { rows, nextCursor } = await readPage(db, query, page);
  return { jobs: rows.map(toJob), nextCursor };
}

/** One page of the workspace's jobs, or of those that have not ended, newest first (articles.read). */
export async function listWorkspaceJobs(
  { db, actor }: VerbContext,
  openOnly: boolean,
  page: PageRequest<JobId>,
): Promise<{ jobs: Job[]; nextCursor: string | null }> {
  requirePermissions(actor, 'articles.read');
  const query = db
    .selectFrom('jobs')
    .select(jobColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where(inLivingProject(actor.workspaceId));
  const { rows, nextCursor } = await readPage(
    db,
    openOnly ? query.where('ended_at', 'is', null) : query,
    page,
  );
  return { jobs: rows.map(toJob), nextCursor };
}

/** Reads one job of the actor's workspace (articles.read). */
export async function readJob({ db, actor }: VerbContext, jobId: JobId): Promise<Job> {
  requirePermissions(actor, 'articles.read');
  const row = await db
    .selectFrom('jobs')
    .select(jobColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', jobId)
    .executeTakeFirstOrThrow(() => notFound('job'));
  return toJob(row);
}

/** What a job of the actor's workspace is for (articles.read). */
export async function readPurpose({ db, actor }: VerbContext, jobId: JobId): Promise<JobPurpose> {
  requirePermissions(actor, 'articles.read');
  const { purpose } = await db
    .selectFrom('jobs')
    .select('purpose')
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', jobId)
    .executeTakeFirstOrThrow(() => notFound('job'));
  return purpose;
}
