import { sql } from 'kysely';
import { lockArticle } from '../articles/lock.ts';
import { type ArticleRow, articleChanged, articleColumns } from '../articles/queries.ts';
import type { ArticleResponse } from '../articles/schemas.ts';
import { showArticle } from '../articles/show.ts';
import type { VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { uniqueViolation } from '../db/errors.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict, invalid } from '../errors.ts';
import type { NewEvent } from '../events/catalog.ts';
import type { ArticleId } from '../ids.ts';
import { admitJob, KEY_TAKEN, type Replayed, replay } from '../jobs/admit.ts';
import { toJob } from '../jobs/queries.ts';
import type { JobRuns } from '../jobs/runs.ts';
import type { Job } from '../jobs/schemas.ts';
import type { StartableJob } from '../jobs/start.ts';
import { MAX_GENERATED_BYTES } from '../media/limits.ts';
import { generationWorkflowId } from '../temporal/ids.ts';
import { type GenerationConfig, generationConfigSchema } from './config.ts';
import { planImages } from './images/plan.ts';
import type { Outline } from './outline.ts';
import { OUTLINE_PART } from './parts.ts';
import { type GenerationFeatures, type PricedRun, priceOf } from './price.ts';
import type { GenerationEstimate, GenerationWarning } from './schemas.ts';
import { withoutFaq } from './writing/faq-headings.ts';

/** Context of verbs that start a generation. The deployment's features decide what the price includes. */
export type GenerationContext = VerbContext & {
  readonly runs: JobRuns;
  readonly features: GenerationFeatures;
};

export type Generated =
  | {
      reused: false;
      article: ArticleResponse;
      job: Job;
      estimate: GenerationEstimate;
      warnings?: GenerationWarning[];
    }
  | Replayed;

/** What an admission has written, and the job whose run starts after the commit. */
export interface Queued<Result = Generated> {
  readonly generated: Result;
  readonly run: StartableJob;
}

/**
 * Queues a generation in one transaction, or replays the one that the key has queued before. The run starts after the
 * commit.
 * @param admit validates the request and admits the job
 */
export async function queueGeneration<Result>(
  context: VerbContext & { readonly runs: JobRuns },
  key: string | undefined,
  admit: (tx: Tx) => Promise<Queued<Result>>,
): Promise<Result | Replayed> {
  const attempt = () =>
    inTransaction<{ generated: Result | Replayed; run: StartableJob | null }>(context.db, async (tx) => {
      const replayed = await replay(tx, context, key);
      return replayed === null ? admit(tx) : { generated: replayed, run: null };
    });
  const { generated, run } = await attempt().catch((error: unknown) => {
    if (uniqueViolation(error) !== KEY_TAKEN) throw error;
    return attempt();
  });
  if (run !== null) await context.runs.start(context.db, run);
  return generated;
}

/** A draft without blocks. */
export type EmptyDraft = ArticleRow & {
  /** True when a person has edited its outline. */
  readonly edited: boolean;
};

/**
 * Locks a DRAFT without blocks that no job owns, for a generation or an outline.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`, `has_content` or `status`
 */
export async function lockEmptyDraft(
  tx: Tx,
  context: VerbContext,
  articleId: ArticleId,
): Promise<EmptyDraft> {
  const article = await lockArticle(tx, context.actor.workspaceId, articleId, 'edit');
  const { hasContent, edited } = await tx
    .selectFrom('articles')
    .select([
      sql<boolean>`jsonb_array_length(document -> 'blocks') > 0`.as('hasContent'),
      'outline_edited as edited',
    ])
    .where('id', '=', articleId)
    .executeTakeFirstOrThrow();
  if (hasContent) {
    throw conflict('The article has content. A generation does not overwrite it.', 'has_content');
  }
  if (article.status !== 'DRAFT') {
    throw conflict(`The article is ${article.status}; only a DRAFT can be generated.`, 'status');
  }
  return { ...article, edited };
}

/**
 * The settings of an article's last generation.
 * @param pointer the request field that replaces them, if there is one
 * @throws {ServiceError} INVALID_REQUEST when there are none, or they are no longer valid
 */
export function storedConfig(json: string | null, pointer = ''): GenerationConfig {
  const stored = generationConfigSchema.safeParse(json === null ? null : JSON.parse(json));
  if (stored.success) return stored.data;
  throw invalid(
    pointer,
    'The article has no generation settings that are valid today. Generate it with a request that has generationConfig.',
  );
}

interface NewGeneration {
  readonly article: Pick<ArticleRow, 'id' | 'project_id' | 'primary_language'>;
  readonly config: GenerationConfig;
  readonly run: PricedRun;
  /** The outline of an approved run. */
  readonly outline?: Outline;
  /** Takes nothing over from an earlier run. */
  readonly fresh: boolean;
  readonly idempotencyKey: string | undefined;
  readonly events: readonly NewEvent[];
  readonly action: 'generation.requested' | 'generation.outline_approved';
}

/**
 * Admits a run on a locked article, in the caller's transaction: sets the article QUEUED and stores settings, price and
 * outline with the job.
 * @throws {ServiceError} as `admitJob`
 */
export async function admitGeneration(
  tx: Tx,
  context: GenerationContext,
  { article, config, run, outline, fresh, idempotencyKey, events, action }: NewGeneration,
): Promise<Queued> {
  const { features } = context;
  const estimate = priceOf(config, features, run);
  const queued = await tx
    .updateTable('articles')
    .set({
      status: 'QUEUED',
      ...(run === 'approved' ? {} : { generation_config: JSON.stringify(config) }),
      ...articleChanged,
    })
    .where('id', '=', article.id)
    .returning(articleColumns)
    .executeTakeFirstOrThrow();
  const job = await admitJob(tx, context, {
    purpose: run === 'outline' ? 'outline' : 'generate',
    article,
    idempotencyKey,
    credits: estimate.total,
    // Given back as far as the images need less, or are not made (contract.md G108).
    bytes: estimate.imageCount * MAX_GENERATED_BYTES,
    workflowId: generationWorkflowId,
    events: (jobId) => [
      ...events,
      {
        type: 'article.generation.started',
        data: { articleId: article.id, jobId, estimatedCredits: estimate.total },
      },
    ],
    audit: { action, details: { words: config.wordCount, language: config.language } },
    record: async (jobId) => {
      await tx
        .insertInto('generations')
        .values({
          job_id: jobId,
          workspace_id: context.actor.workspaceId,
          price: JSON.stringify(estimate),
          config: JSON.stringify(config),
          fresh,
        })
        .execute();
      await planImages(tx, jobId, { count: estimate.imageCount, quality: config.imageQuality });
      if (outline === undefined) return;
      await tx
        .insertInto('generation_parts')
        .values({
          job_id: jobId,
          part: OUTLINE_PART,
          kind: 'outline',
          words: 0,
          content: JSON.stringify({
            ...outline,
            // The questions at the end take their place.
            sections: config.faq ? withoutFaq(outline.sections) : outline.sections,
          }),
        })
        .execute();
    },
  });
  const warnings = warningsOf(article.primary_language, config.language);
  return {
    generated: {
      reused: false,
      article: (await showArticle(tx, queued)).article,
      job: toJob(job),
      estimate,
      ...(warnings.length === 0 ? {} : { warnings }),
    },
    run: job,
  };
}

/** Warns when the languages of text and article differ, which may be a mistake. */
const warningsOf = (ofArticle: string, ofText: string): GenerationWarning[] =>
  ofArticle === ofText
    ? []
    : [
        {
          code: 'language_differs',
          message: `The text will be written in ${ofText}, but the article's language is ${ofArticle}. Set generationConfig.language, or the article's, if that is not intended.`,
        },
      ];
