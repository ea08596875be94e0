import { readAssets } from '../articles/images.ts';
import type { ArticleResponse } from '../articles/schemas.ts';
import { showArticle } from '../articles/show.ts';
import { copyCategories } from '../categories/copy.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { uniqueViolation } from '../db/errors.ts';
import { CHANGED, retryingChanged } from '../db/retrying-changed.ts';
import { inTransaction } from '../db/transaction.ts';
import type { PlannedRefresh } from '../document/tasks/plan.ts';
import type { Counted } from '../document/tasks/tasks.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import type { ArticleId } from '../ids.ts';
import { admitJob, KEY_TAKEN, type Replayed, replay } from '../jobs/admit.ts';
import { toJob } from '../jobs/queries.ts';
import type { JobRuns } from '../jobs/runs.ts';
import type { Job } from '../jobs/schemas.ts';
import type { StartableJob } from '../jobs/start.ts';
import { writeJson } from '../json-text.ts';
import { translationWorkflowId } from '../temporal/ids.ts';
import { doTask } from '../threads/pool.ts';
import { type Draft, insertDraft, readDraft, reuseDraft } from './draft.ts';
import { countBody, estimateCounted } from './price.ts';
import { checkTargetLanguage, readSource, readTexts, toSnapshot } from './read-source.ts';
import { recordPlan } from './record.ts';
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
      const prepared = await prepare(context, input);
      return inTransaction(context.db, async (tx) => {
        const replayed = await replay(tx, context, input.idempotencyKey);
        return replayed === null ? create(tx, context, input, prepared) : { created: replayed, run: null };
      });
    });
  const { created, run } = await attempt().catch((error: unknown) => {
    if (!RACES.has(uniqueViolation(error) ?? '')) throw error;
    return attempt();
  });
  if (run !== null) await context.runs.start(context.db, run);
  return created;
}

/** A source, counted and planned before the transaction so that no lock or connection is held meanwhile. */
interface Prepared {
  /** JSON text. */
  readonly source: string;
  readonly counted: Counted;
  /** The draft that is reused; null for a new one. */
  readonly draft: Draft | null;
  /** Null for a source that cannot be translated. */
  readonly planned: PlannedRefresh | null;
}

/** Null when the article does not exist. */
async function prepare(
  { db, actor: { workspaceId } }: VerbContext,
  { articleId, language }: CreateTranslation,
): Promise<Prepared | null> {
  const texts = await readTexts(db, workspaceId, articleId).executeTakeFirst();
  if (texts === undefined) return null;
  const source = writeJson(toSnapshot(texts, await readAssets(db, workspaceId, articleId)));
  const counted = await countBody(texts.document);
  const draft = await readDraft(db, workspaceId, texts.translation_group_id, language);
  const languages = { sourceLanguage: texts.primary_language, targetLanguage: language };
  const planned =
    counted.ok && texts.languages.includes(language)
      ? await doTask('planFirst', source, draft?.content ?? null, draft?.madeTitle ?? null, languages)
      : null;
  return { source, counted, draft, planned };
}

async function create(
  tx: Tx,
  context: Context,
  input: CreateTranslation,
  prepared: Prepared | null,
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

  if (prepared === null || prepared.source !== writeJson(source.snapshot)) return CHANGED;
  const estimate = estimateCounted(source.snapshot, prepared.counted);
  const { planned, draft } = prepared;
  if (planned === null) return CHANGED;
  const version = [workspaceId, source.translation_group_id, input.language] as const;
  const there = await readDraft(tx, ...version, true);
  if (there?.content !== draft?.content) return CHANGED;
  const reused = await reuseDraft(tx, ...version);
  const article = reused ?? (await insertDraft(tx, workspaceId, source, input.language));
  if (reused === null) await copyCategories(tx, workspaceId, input.articleId, article.id);
  const job = await admitJob(tx, context, {
    purpose: 'translate',
    article,
    idempotencyKey: input.idempotencyKey,
    credits: estimate.total,
    bytes: planned.bytes,
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
    record: (jobId) =>
      recordPlan(tx, jobId, {
        workspaceId,
        sourceId: input.articleId,
        sourceLanguage: source.primary_language,
        targetLanguage: input.language,
        planned,
        words: estimate.words,
      }),
  });
  return {
    created: { reused: false, article: (await showArticle(tx, article)).article, job: toJob(job), estimate },
    run: job,
  };
}
