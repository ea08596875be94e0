import { type Insertable, sql } from 'kysely';
import { articleColumns } from '../articles/queries.ts';
import type { ArticleResponse } from '../articles/schemas.ts';
import { showArticle } from '../articles/show.ts';
import { type AuditRecord, recordAudit } from '../audit/record.ts';
import type { VerbContext } from '../context.ts';
import { reserve } from '../credits/reserve.ts';
import type { Tx } from '../db/database.ts';
import { inLivingProject } from '../db/living-projects.ts';
import type { JobPurpose, Tables } from '../db/tables.ts';
import { notFound } from '../errors.ts';
import type { NewEvent } from '../events/catalog.ts';
import { recordEvents } from '../events/record.ts';
import { type ArticleId, type JobId, newId, type ProjectId, type WorkspaceId } from '../ids.ts';
import { currentTraceparent } from '../tracing/spans.ts';
import { PURPOSES } from './purposes.ts';
import { type JobRow, jobColumns, toJob } from './queries.ts';
import type { JobRuns } from './runs.ts';
import type { Job } from './schemas.ts';
import type { StartableJob } from './start.ts';
import { requireUnpaidWithinLimit } from './unpaid-limits.ts';

/** Of two concurrent admissions with one key the loser hits this constraint; its retry finds the winner. */
export const KEY_TAKEN = 'jobs_idempotency_key_key';

/** The result for a key used before. */
export interface Replayed {
  readonly reused: true;
  readonly article: ArticleResponse;
  readonly job: Job;
  readonly estimate: null;
}

/**
 * The job that this workspace created under the key, whatever is requested now, and its article of the same moment.
 * Null without a key, or for a new one.
 */
export async function replay(
  tx: Tx,
  { actor }: VerbContext,
  key: string | undefined,
): Promise<Replayed | null> {
  if (key === undefined) return null;
  // Requests with one key wait for each other here, so that the second sees the committed job of the first.
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${actor.workspaceId} ${key}`}, 0))`.execute(tx);
  // Whatever changes a job locks its article first, so job and article are of one moment.
  const article = await tx
    .selectFrom('articles')
    .innerJoin('jobs', 'jobs.article_id', 'articles.id')
    .select(articleColumns)
    .select(inLivingProject(actor.workspaceId, 'articles.project_id').as('living'))
    .where('jobs.workspace_id', '=', actor.workspaceId)
    .where('jobs.idempotency_key', '=', key)
    .forShare('articles')
    .executeTakeFirst();
  if (article === undefined) return null;
  if (!article.living) return freeKey(tx, actor.workspaceId, key);
  const job = await tx
    .selectFrom('jobs')
    .select(jobColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('idempotency_key', '=', key)
    .executeTakeFirstOrThrow();
  return { reused: true, article: (await showArticle(tx, article)).article, job: toJob(job), estimate: null };
}

/** Of a deleted project only rows are left, which hold no key. */
async function freeKey(tx: Tx, workspaceId: WorkspaceId, key: string): Promise<null> {
  await tx
    .updateTable('jobs')
    .set({ idempotency_key: `auto-${newId()}` })
    .where('workspace_id', '=', workspaceId)
    .where('idempotency_key', '=', key)
    .execute();
  return null;
}

export interface NewJob {
  readonly purpose: JobPurpose;
  /** The article to write, locked or new in this transaction. */
  readonly article: { readonly id: ArticleId; readonly project_id: ProjectId };
  readonly idempotencyKey: string | undefined;
  /** The maximum price. */
  readonly credits: number;
  /** Held of the storage quota for the images to be added. */
  readonly bytes: number;
  readonly workflowId: (jobId: JobId) => string;
  readonly events: (jobId: JobId) => readonly NewEvent[];
  /** Audit action, and details besides the job and its price. */
  readonly audit: { readonly action: AuditRecord['action']; readonly details: Record<string, unknown> };
  /** Writes the area's own rows of the job. */
  readonly record: (jobId: JobId) => Promise<void>;
}

/**
 * Admits a paid job in the caller's transaction, after all of its own checks: the job, the area's rows, events, audit
 * entry and hold. The run is started after the commit.
 * @throws {ServiceError} RESOURCE_NOT_FOUND when the project was deleted meanwhile; INSUFFICIENT_CREDITS, before
 *   QUOTA_EXCEEDED
 */
export async function admitJob(
  tx: Tx,
  context: VerbContext & { readonly runs: JobRuns },
  { purpose, article, credits, bytes, ...rest }: NewJob,
): Promise<JobRow & StartableJob> {
  const { workspaceId } = context.actor;
  const jobId = newId<JobId>();
  const values: Insertable<Tables['jobs']> = {
    id: jobId,
    workspace_id: workspaceId,
    project_id: article.project_id,
    article_id: article.id,
    kind: PURPOSES[purpose].kind,
    purpose,
    status: 'QUEUED',
    idempotency_key: rest.idempotencyKey ?? `auto-${newId()}`,
    estimated_credits: credits,
    reserved_credits: credits,
    held_bytes: bytes,
    workflow_id: rest.workflowId(jobId),
    request_id: context.requestId,
    traceparent: currentTraceparent(),
  };
  const job = await tx
    .insertInto('jobs')
    .columns(Object.keys(values) as (keyof typeof values)[])
    // The project cannot be deleted until the job is there to be seen.
    .expression((eb) =>
      eb
        .selectFrom('projects')
        .select(Object.entries(values).map(([name, value]) => sql`${value}`.as(name)))
        .where('projects.id', '=', article.project_id)
        .where('projects.deleted_at', 'is', null)
        .forShare(),
    )
    .returning([...jobColumns, 'purpose', 'workflow_id', 'request_id', 'traceparent'])
    .executeTakeFirstOrThrow(() => notFound('article'));
  await rest.record(jobId);
  await recordEvents(tx, context, rest.events(jobId));
  await recordAudit(tx, context, {
    action: rest.audit.action,
    targetType: 'article',
    targetId: article.id,
    details: { jobId, ...rest.audit.details, credits },
  });
  await reserve(tx, {
    workspaceId,
    purpose: PURPOSES[purpose].hold,
    runId: jobId,
    credits,
    bytes,
    month: PURPOSES[purpose].countsAsOperation ? job.created_at.toISOString().slice(0, 7) : null,
  });
  await requireUnpaidWithinLimit(tx, workspaceId, context.runs.unbilledLimit);
  return job;
}
