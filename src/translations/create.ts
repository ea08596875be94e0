import { sql } from 'kysely';
import { bytesOf } from '../articles/images.ts';
import { articleColumns } from '../articles/queries.ts';
import { type ArticleResponse, toArticle } from '../articles/schemas.ts';
import { recordAudit } from '../audit/record.ts';
import { copyCategories } from '../categories/copy.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { insufficientCredits, openHold, reserveCredits } from '../credits/holds.ts';
import { reserveBytes, storageQuotaExceeded } from '../credits/storage-quota.ts';
import type { Tx } from '../db/database.ts';
import { uniqueViolation } from '../db/errors.ts';
import { inTransaction } from '../db/transaction.ts';
import type { Counted } from '../document/threads/tasks.ts';
import { conflict, invalid, notFound, ServiceError } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import { type ArticleId, type JobId, newId } from '../ids.ts';
import { jobColumns, toJob } from '../jobs/queries.ts';
import type { Job } from '../jobs/schemas.ts';
import { writeJson } from '../json-text.ts';
import { translationWorkflowId } from '../temporal/ids.ts';
import { insertDraft, reuseDraft } from './draft.ts';
import { countBody, estimateCounted } from './price.ts';
import { checkTargetLanguage, readSource, readTexts } from './read-source.ts';
import type { TranslationJob, TranslationRuns } from './runs.ts';
import type { Estimate } from './schemas.ts';

export interface CreateTranslation {
  readonly articleId: ArticleId;
  /** Canonical language tag. */
  readonly language: string;
  readonly idempotencyKey?: string | undefined;
}

export type CreatedTranslation =
  | { reused: false; article: ArticleResponse; job: Job; estimate: Estimate }
  | { reused: true; article: ArticleResponse; job: Job; estimate: null };

/** The outcome of the transaction; a replay starts no run. */
interface Queued {
  readonly created: CreatedTranslation;
  readonly run: TranslationJob | null;
}

/** Bodies that may be counted in vain because the article changed in between. */
const MAX_ATTEMPTS = 5;

/** Two requests that race for one language: the loser's transaction runs once more and sees the winner. */
const RACES = new Set(['jobs_idempotency_key_key', 'articles_group_language_key']);

/**
 * Queues the translation of an article: the draft, the job with its snapshot of the source, the event
 * article.created, the audit entry and the hold are one transaction. The run is started when it has committed.
 *
 * @throws {ServiceError} RESOURCE_NOT_FOUND, INVALID_REQUEST, CONFLICT, INSUFFICIENT_CREDITS or
 *   QUOTA_EXCEEDED as contract.md T5 to T10 list them; nothing is left behind then
 */
export async function createTranslation(
  context: VerbContext & { readonly runs: TranslationRuns },
  input: CreateTranslation,
): Promise<CreatedTranslation> {
  requirePermissions(context.actor, 'articles.create', 'articles.generate');
  const attempt = async (): Promise<Queued> => {
    for (let left = MAX_ATTEMPTS; left > 0; left -= 1) {
      const counted = await countSource(context, input.articleId);
      const queued = await inTransaction(context.db, (tx) => replayOrCreate(tx, context, input, counted));
      if (queued !== null) return queued;
    }
    throw new ServiceError('SERVICE_UNAVAILABLE', 'The article keeps changing. Try again shortly.');
  };
  const { created, run } = await attempt().catch((error: unknown) => {
    if (!RACES.has(uniqueViolation(error) ?? '')) throw error;
    return attempt();
  });
  if (run !== null) await context.runs.start(run);
  return created;
}

/** A source's body counted before the transaction, so that no lock and no connection waits for it. */
interface CountedSource {
  readonly document: string;
  readonly counted: Counted;
}

/** Null when the article does not exist. */
async function countSource({ db, actor }: VerbContext, articleId: ArticleId): Promise<CountedSource | null> {
  const texts = await readTexts(db, actor.workspaceId, articleId).executeTakeFirst();
  if (texts === undefined) return null;
  return { document: texts.document, counted: await countBody(texts.document) };
}

/** @returns null when the source has another body by now than when it was counted */
async function replayOrCreate(
  tx: Tx,
  context: VerbContext,
  input: CreateTranslation,
  counted: CountedSource | null,
): Promise<Queued | null> {
  const replayed =
    input.idempotencyKey === undefined ? null : await replay(tx, context, input.idempotencyKey);
  return replayed ?? create(tx, context, input, counted);
}

/** The job that this workspace created under the key, whatever article or language is asked for now. */
async function replay(tx: Tx, { actor }: VerbContext, key: string): Promise<Queued | null> {
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
  return {
    created: { reused: true, article: toArticle(article), job: toJob(job), estimate: null },
    run: null,
  };
}

async function create(
  tx: Tx,
  context: VerbContext,
  input: CreateTranslation,
  priced: CountedSource | null,
): Promise<Queued | null> {
  const { workspaceId } = context.actor;
  const source = await readSource(tx, workspaceId, input.articleId);
  if (source === undefined) throw notFound('article');
  checkTargetLanguage('/language', input.language, source);
  if (source.isEmpty) {
    throw invalid('', 'The article has no content to translate yet.');
  }
  if (source.generating) {
    throw conflict('The article is being generated; translate it once that has ended.', 'generation_running');
  }

  if (priced === null || priced.document !== source.snapshot.document.text) return null;
  const estimate = estimateCounted(source.snapshot, priced.counted);
  const bytes = bytesOf(source.snapshot.assets);
  const reused = await reuseDraft(tx, workspaceId, source.translation_group_id, input.language);
  const article = reused ?? (await insertDraft(tx, workspaceId, source, input.language));
  await copyCategories(tx, workspaceId, input.articleId, article.id);

  const jobId = newId<JobId>();
  const job = await tx
    .insertInto('jobs')
    .values({
      id: jobId,
      workspace_id: workspaceId,
      project_id: source.project_id,
      article_id: article.id,
      kind: 'translation',
      status: 'QUEUED',
      idempotency_key: input.idempotencyKey ?? `auto-${newId()}`,
      estimated_credits: estimate.total,
      reserved_credits: estimate.total,
      held_bytes: bytes,
      workflow_id: translationWorkflowId(jobId),
      request_id: context.requestId,
    })
    .returning([...jobColumns, 'request_id'])
    .executeTakeFirstOrThrow();
  const languages = { source_language: source.primary_language, target_language: input.language };
  await tx
    .insertInto('translations')
    .values({
      ...languages,
      job_id: jobId,
      workspace_id: workspaceId,
      source_article_id: input.articleId,
      snapshot: writeJson(source.snapshot),
    })
    .execute();
  if (reused === null) {
    await recordEvents(tx, context, [
      {
        type: 'article.created',
        data: { articleId: article.id, projectId: article.project_id, title: article.title },
      },
    ]);
  }
  await recordAudit(tx, context, {
    action: 'translations.created',
    targetType: 'article',
    targetId: article.id,
    details: { jobId, sourceArticleId: input.articleId, language: input.language, credits: estimate.total },
  });

  // The rows every run of the workspace shares are locked last, and for as short as can be.
  await openHold(tx, { workspaceId, purpose: 'translation', runId: jobId, amount: estimate.total });
  const bytesFit = await reserveBytes(tx, workspaceId, bytes);
  if (!(await reserveCredits(tx, workspaceId, estimate.total))) throw insufficientCredits(estimate.total);
  if (!bytesFit) throw storageQuotaExceeded(bytes);
  return {
    created: { reused: false, article: toArticle(article), job: toJob(job), estimate },
    run: { ...job, ...languages },
  };
}
