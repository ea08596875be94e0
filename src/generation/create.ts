import { insertArticle, noteMade } from '../articles/insert.ts';
import { requirePermissions } from '../context.ts';
import { MAX_TITLE } from '../document/format/limits.ts';
import { EMPTY_DOCUMENT } from '../document/format/schema.ts';
import { firstCodePoints } from '../document/text/characters.ts';
import { conflict } from '../errors.ts';
import { type ArticleId, newId, type ProjectId, type TranslationGroupId } from '../ids.ts';
import { lockLanguages, requireProjectLanguage } from '../projects/languages.ts';
import {
  admitGeneration,
  type Generated,
  type GenerationContext,
  lockEmptyDraft,
  queueGeneration,
  storedConfig,
} from './admit.ts';
import type { GenerationConfig } from './config.ts';
import { firstRun } from './price.ts';

export interface GenerateArticle {
  readonly projectId: ProjectId;
  readonly generationConfig: GenerationConfig;
  readonly title?: string | undefined;
  /** Canonical language tag. */
  readonly language?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** The topic on one line, cut to the length of a title. */
const titleOf = (topic: string): string => firstCodePoints(topic.replace(/\s+/gu, ' '), MAX_TITLE).trimEnd();

/**
 * Creates an article and queues its generation (articles.create, articles.generate). One transaction writes article, job,
 * the events article.created and article.generation.started, the audit entry and the hold.
 * @throws {ServiceError} RESOURCE_NOT_FOUND for the project, INVALID_REQUEST for a language it lacks,
 *   INSUFFICIENT_CREDITS, QUOTA_EXCEEDED; nothing is written then
 */
export async function generateArticle(
  context: GenerationContext,
  input: GenerateArticle,
): Promise<Generated> {
  requirePermissions(context.actor, 'articles.create', 'articles.generate');
  const { workspaceId } = context.actor;
  const { projectId, generationConfig: config, idempotencyKey } = input;
  return queueGeneration(context, idempotencyKey, async (tx) => {
    const project = await lockLanguages(tx, workspaceId, projectId);
    const language = input.language ?? project.primaryLanguage;
    requireProjectLanguage('/language', language, project);
    const title = input.title ?? titleOf(config.topic);
    const article = await insertArticle(tx, {
      id: newId<ArticleId>(),
      workspace_id: workspaceId,
      project_id: projectId,
      title,
      status: 'QUEUED',
      document: EMPTY_DOCUMENT,
      primary_language: language,
      translation_group_id: newId<TranslationGroupId>(),
      word_count: 0,
    });
    if (input.title === undefined) await noteMade(tx, article.id);
    return admitGeneration(tx, context, {
      article,
      config,
      run: firstRun(config),
      fresh: false,
      idempotencyKey,
      events: [{ type: 'article.created', data: { articleId: article.id, projectId, title } }],
      action: 'generation.requested',
    });
  });
}

export interface GenerateDraft {
  readonly articleId: ArticleId;
  readonly generationConfig?: GenerationConfig | undefined;
  readonly replaceOutline: boolean;
  readonly fresh: boolean;
  readonly idempotencyKey?: string | undefined;
}

/**
 * Queues the generation of an empty draft (articles.generate).
 * @throws {ServiceError} RESOURCE_NOT_FOUND; INVALID_REQUEST without settings, given or stored; CONFLICT `job_running`,
 *   `has_content`, `status` or `outline_edited`; INSUFFICIENT_CREDITS, QUOTA_EXCEEDED
 */
export async function generateDraft(context: GenerationContext, input: GenerateDraft): Promise<Generated> {
  requirePermissions(context.actor, 'articles.generate');
  const { articleId, replaceOutline, fresh, idempotencyKey } = input;
  return queueGeneration(context, idempotencyKey, async (tx) => {
    const article = await lockEmptyDraft(tx, context, articleId);
    const config = input.generationConfig ?? storedConfig(article.generation_config, '/generationConfig');
    if (article.edited && !replaceOutline) {
      throw conflict(
        'The outline has been edited. Approve it, or send replaceOutline to make a new one.',
        'outline_edited',
      );
    }
    return admitGeneration(tx, context, {
      article,
      config,
      run: firstRun(config),
      fresh,
      idempotencyKey,
      events: [],
      action: 'generation.requested',
    });
  });
}
