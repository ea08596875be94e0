import { sql } from 'kysely';
import { articleColumns } from '../articles/queries.ts';
import type { ArticleResponse } from '../articles/schemas.ts';
import { showArticle } from '../articles/show.ts';
import { type AuditRecord, recordAudit } from '../audit/record.ts';
import type { VerbContext } from '../context.ts';
import { reserve } from '../credits/reserve.ts';
import type { Tx } from '../db/database.ts';
import type { JobPurpose } from '../db/tables.ts';
import type { NewEvent } from '../events/catalog.ts';
import { recordEvents } from '../events/record.ts';
import { type ArticleId, type JobId, newId, type ProjectId } from '../ids.ts';
import { PURPOSES } from './purposes.ts';
import { type JobRow, jobColumns, toJob } from './queries.ts';
import type { JobRuns, StartableJob } from './runs.ts';
import type { Job } from './schemas.ts';
import { requirePaying } from './unpaid.ts';

/** Of two admissions that race for one key the loser runs into this; it runs once more and finds the winner. */
export const KEY_TAKEN = 'jobs_idempotency_key_key';

/** What a key answers that was used before. */
export interface Replayed {
  readonly reused: true;
  readonly article: ArticleResponse;
  readonly job: Job;
  readonly estimate: null;
}

/**
 * The job that this workspace created under the key, whatever is asked for now, and its article of the same moment. Null
 * without a key, or for a new one.
 */
export async function replay(
  tx: Tx,
  { actor }: VerbContext,
  key: string | undefined,
): Promise<Replayed | null> {
  if (key === undefined) return null;
  // Repeats of one key wait for each other here: a twin that has committed is seen, never run into.
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${actor.workspaceId} ${key}`}, 0))`.execute(tx);
  // Whatever moves a job locks its article first, so job and article are of one moment.
  const article = await tx
    .selectFrom('articles')
    .innerJoin('jobs', 'jobs.article_id', 'articles.id')
    .select(articleColumns)
    .where('jobs.workspace_id', '=', actor.workspaceId)
    .where('jobs.idempotency_key', '=', key)
    .forShare('articles')
    .executeTakeFirst();
  if (article === undefined) return null;
  const job = await tx
    .selectFrom('jobs')
    .select(jobColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('idempotency_key', '=', key)
    .executeTakeFirstOrThrow();
  return { reused: true, article: (await showArticle(tx, article)).article, job: toJob(job), estimate: null };
}

export interface NewJob {
  readonly purpose: JobPurpose;
  /** The article it is to write, locked or new in this transaction. */
  readonly article: { readonly id: ArticleId; readonly project_id: ProjectId };
  readonly idempotencyKey: string | undefined;
  /** The most it can cost. */
  readonly credits: number;
  /** Held of the storage quota for the images that it will add. */
  readonly bytes: number;
  readonly workflowId: (jobId: JobId) => string;
  readonly events: (jobId: JobId) => readonly NewEvent[];
  /** What the log says besides the job and its price. */
  readonly audit: { readonly action: AuditRecord['action']; readonly details: Record<string, unknown> };
  /** Writes what the area keeps of the job besides its row. */
  readonly record: (jobId: JobId) => Promise<void>;
}

/**
 * Admits a paid job in the caller's transaction, after all of its own checks: the row, what its area keeps, events,
 * audit entry and hold. The run is started when it has committed.
 * @throws {ServiceError} INSUFFICIENT_CREDITS, before QUOTA_EXCEEDED
 */
export async function admitJob(
  tx: Tx,
  context: VerbContext & { readonly runs: JobRuns },
  { purpose, article, credits, bytes, ...rest }: NewJob,
): Promise<JobRow & StartableJob> {
  const { workspaceId } = context.actor;
  const jobId = newId<JobId>();
  const job = await tx
    .insertInto('jobs')
    .values({
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
    })
    .returning([...jobColumns, 'purpose', 'workflow_id', 'request_id'])
    .executeTakeFirstOrThrow();
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
  await requirePaying(tx, workspaceId, context.runs.unbilledLimit);
  return job;
}
