import type { z } from 'zod';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { recordChange } from '../events/record.ts';
import { type ArticleId, newId, type ProjectId, type TranslationGroupId } from '../ids.ts';
import { lockLanguages, requireProjectLanguage } from '../projects/languages.ts';
import { EMPTY_BODY } from './document-field.ts';
import type { createArticleBody } from './input-schemas.ts';
import { insertArticle } from './insert.ts';
import { keepLinks } from './links/keep.ts';
import { endRedirect } from './redirects.ts';
import { renderingColumns } from './rendering.ts';
import { type ShownArticle, showArticle } from './show.ts';

/** The language defaults to the project's primary one, the slug is derived from the title. */
export type CreateArticleInput = z.output<typeof createArticleBody> & { readonly projectId: ProjectId };

/**
 * Makes a DRAFT in a translation group of its own (articles.create), rendered and counted. Emits
 * article.created.
 * @throws {ServiceError} RESOURCE_NOT_FOUND for the project, INVALID_REQUEST for a language it lacks,
 *   CONFLICT `slug_taken` for a given slug
 */
export async function createArticle(context: VerbContext, input: CreateArticleInput): Promise<ShownArticle> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.create');
  const { projectId, title } = input;
  const id = newId<ArticleId>();
  const { stored, rendered } = input.documentJson ?? EMPTY_BODY;
  return inTransaction(db, async (tx) => {
    const project = await lockLanguages(tx, actor.workspaceId, projectId);
    const language = input.primaryLanguage ?? project.primaryLanguage;
    requireProjectLanguage('/primaryLanguage', language, project);
    const row = await insertArticle(
      tx,
      {
        id,
        workspace_id: actor.workspaceId,
        project_id: projectId,
        title,
        slug: input.slug,
        status: 'DRAFT',
        document: stored.json,
        ...renderingColumns(rendered),
        meta_title: input.metaTitle ?? null,
        meta_description: input.metaDescription ?? null,
        target_keywords: [...(input.targetKeywords ?? [])],
        secondary_keywords: [...(input.secondaryKeywords ?? [])],
        primary_language: language,
        translation_group_id: newId<TranslationGroupId>(),
        word_count: stored.words,
      },
      actor,
    );
    await keepLinks(tx, context, id, null, rendered.places);
    if (input.slug !== undefined) await endRedirect(tx, row);
    const details = { projectId, title, language };
    const audit = { action: 'articles.created', targetType: 'article', targetId: id, details };
    await recordChange(tx, context, audit, [
      { type: 'article.created', data: { articleId: id, projectId, title } },
    ]);
    return showArticle(tx, row);
  });
}
