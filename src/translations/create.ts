import { bytesOf } from '../articles/images.ts';
import type { ArticleResponse } from '../articles/schemas.ts';
import { showArticle } from '../articles/show.ts';
import { copyCategories } from '../categories/copy.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { uniqueViolation } from '../db/errors.ts';
import { CHANGED, retryingChanged } from '../db/retrying-changed.ts';
import { inTransaction } from '../db/transaction.ts';
import type { Counted } from '../document/tasks/tasks.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { ArticleId } from '../ids.ts';
import { admitJob, KEY_TAKEN, type Replayed, replay } from '../jobs/admit.ts';
import { toJob } from '../jobs/queries.ts';
import type { JobRuns, StartableJob } from '../jobs/runs.ts';
import type { Job } from '../jobs/schemas.ts';
import { writeJson } from '../json-text.ts';
import { translationWorkflowId } from '../temporal/ids.ts';
import { insertDraft, reuseDraft } from './draft.ts';
import { countBody, estimateCounted } from './price.ts';
import { checkTargetLanguage, readSource, readTexts } from './read-source.ts';
import type { Estimate } from './schemas.ts';

export interface CreateTranslation {
  readonly articleId: ArticleId;
  /** Canonical language tag. */
  readonly language: string;
  readonly idempotencyKey?: string | undefined;
}

export type CreatedTranslation =
  | { reused: false; article: ArticleResponse; job: Job; estimate: Estimate }
  | Replayed;

type Context = VerbContext & { readonly runs: JobRuns };

/** The outcome of the transaction; a replay starts no run. */
interface Queued {
  readonly created: CreatedTranslation;
  readonly run: StartableJob | null;
}

/** When two requests race for one language, the loser's transaction runs again and sees the winner's. */
const RACES = new Set([KEY_TAKEN, 'articles_group_language_key']);

/**
 * Queues the translation of an article. One transaction writes the draft, the job with its snapshot of the source, the
 * event article.created, the audit entry and the hold. The run starts after the commit.
 *
 * @throws {ServiceError} RESOURCE_NOT_FOUND, INVALID_REQUEST, CONFLICT, INSUFFICIENT_CREDITS or
 *   QUOTA_EXCEEDED as contract.md T5 to T10 list them; nothing is written then
 */
export async function createTranslation(
  context: Context,
  input: CreateTranslation,
): Promise<CreatedTranslation> {
  requirePermissions(context.actor, 'articles.create', 'articles.generate');
  const attempt = (): Promise<Queued> =>
    retryingChanged(async () => {
      const counted = await countSource(context, input.articleId);
      return inTransaction(context.db, async (tx) => {
        const replayed = await replay(tx, context, input.idempotencyKey);
        return replayed === null ? create(tx, context, input, counted) : { created: replayed, run: null };
      });
    });
  const { created, run } = await attempt().catch((error: unknown) => {
    if (!RACES.has(uniqueViolation(error) ?? '')) throw error;
    return attempt();
  });
  if (run !== null) await context.runs.start(context.db, run);
  return created;
}

/** A source's body, counted before the transaction so that no lock or connection is held meanwhile. */
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

async function create(
  tx: Tx,
  context: Context,
  input: CreateTranslation,
  priced: CountedSource | null,
): Promise<Queued | typeof CHANGED> {
  const { workspaceId } = context.actor;
  const source = await readSource(tx, workspaceId, input.articleId);
  if (source === undefined) throw notFound('article');
  checkTargetLanguage('/language', input.language, source);
  // Checked before isEmpty: an article that is being generated has no content yet.
  if (source.generating) {
    throw conflict('The article is being generated; translate it once that has ended.', 'generation_running');
  }
  if (source.isEmpty) {
    throw invalid('', 'The article has no content to translate yet.');
  }

  if (priced === null || priced.document !== source.snapshot.document.text) return CHANGED;
  const estimate = estimateCounted(source.snapshot, priced.counted);
  const bytes = bytesOf(source.snapshot.assets);
  const reused = await reuseDraft(tx, workspaceId, source.translation_group_id, input.language);
  const article = reused ?? (await insertDraft(tx, workspaceId, source, input.language));
  await copyCategories(tx, workspaceId, input.articleId, article.id);

  const languages = { source_language: source.primary_language, target_language: input.language };
  const job = await admitJob(tx, context, {
    purpose: 'translate',
    article,
    idempotencyKey: input.idempotencyKey,
    credits: estimate.total,
    bytes,
    workflowId: translationWorkflowId,
    events: () =>
      reused === null
        ? [
            {
              type: 'article.created',
              data: { articleId: article.id, projectId: article.project_id, title: article.title },
            },
          ]
        : [],
    audit: {
      action: 'translations.created',
      details: { sourceArticleId: input.articleId, language: input.language },
    },
    record: async (jobId) => {
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
    },
  });
  return {
    created: { reused: false, article: (await showArticle(tx, article)).article, job: toJob(job), estimate },
    run: job,
  };
}
