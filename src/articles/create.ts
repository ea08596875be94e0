import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { recordEvents } from '../events/record.ts';
import { type ArticleId, newId, type ProjectId, type TranslationGroupId } from '../ids.ts';
import { lockLanguages, requireProjectLanguage } from '../projects/languages.ts';
import type { CheckedBody } from './document-field.ts';
import { insertArticle } from './insert.ts';
import { endRedirect } from './redirects.ts';
import { readReferences, renderBody } from './render.ts';
import { type AnsweredArticle, toArticle } from './schemas.ts';

export interface CreateArticleInput {
  readonly projectId: ProjectId;
  /** 1 to 300 characters, trimmed. */
  readonly title: string;
  /** Canonical tag, one of the project's languages; else the project's primary one. */
  readonly primaryLanguage?: string | undefined;
  /** Lower-case letters, digits and hyphens; else made of the title. */
  readonly slug?: string | undefined;
  readonly documentJson?: CheckedBody | undefined;
  readonly metaTitle?: string | null | undefined;
  readonly metaDescription?: string | null | undefined;
  readonly targetKeywords?: readonly string[] | undefined;
  readonly secondaryKeywords?: readonly string[] | undefined;
}

const EMPTY_DOCUMENT = '{"version":1,"blocks":[]}';

/**
 * Makes a DRAFT in a translation group of its own (articles.create), rendered and counted. Emits
 * article.created.
 * @throws {ServiceError} RESOURCE_NOT_FOUND for the project, INVALID_REQUEST for a language it has not,
 *   CONFLICT `slug_taken` for a given slug
 */
export async function createArticle(
  context: VerbContext,
  input: CreateArticleInput,
): Promise<AnsweredArticle> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.create');
  const { projectId, title } = input;
  const id = newId<ArticleId>();
  const document = input.documentJson?.stored.json ?? EMPTY_DOCUMENT;
  // Before the transaction: nobody waits for it, and a new article has no images that could come in between.
  const references = await readReferences(db, { id, project_id: projectId, document });
  const rendering = await renderBody(document, references, input.documentJson?.texts);
  return inTransaction(db, async (tx) => {
    const project = await lockLanguages(tx, actor.workspaceId, projectId);
    const language = input.primaryLanguage ?? project.primaryLanguage;
    requireProjectLanguage('/primaryLanguage', language, project);
    const row = await insertArticle(tx, {
      id,
      workspace_id: actor.workspaceId,
      project_id: projectId,
      title,
      slug: input.slug,
      status: 'DRAFT',
      document,
      ...rendering,
      meta_title: input.metaTitle ?? null,
      meta_description: input.metaDescription ?? null,
      target_keywords: [...(input.targetKeywords ?? [])],
      secondary_keywords: [...(input.secondaryKeywords ?? [])],
      primary_language: language,
      translation_group_id: newId<TranslationGroupId>(),
      word_count: input.documentJson?.stored.words ?? 0,
    });
    if (input.slug !== undefined) await endRedirect(tx, row);
    await recordEvents(tx, context, [{ type: 'article.created', data: { articleId: id, projectId, title } }]);
    await recordAudit(tx, context, {
      action: 'articles.created',
      targetType: 'article',
      targetId: id,
      details: { projectId, title, language },
    });
    return toArticle(row);
  });
}
