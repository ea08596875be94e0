/** The three paid suggestions. Each reserves its operation and runs it after the commit. */
import type { z } from 'zod';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import type {
  ArticleSuggestions,
  NameSuggestions,
  ProjectSuggestions,
  Suggestions,
} from '../db/suggestions.ts';
import { inTransaction } from '../db/transaction.ts';
import { invalid, notFound } from '../errors.ts';
import type { ArticleId, CategoryId, ProjectId } from '../ids.ts';
import { type PaidResult, type RunDependencies, runOperation } from './await-operation.ts';
import { type NewOperation, reserveOperation } from './operations.ts';
import { namesPrice, SUGGESTION_CREDITS } from './price.ts';
import type { translateNamesBody } from './schemas.ts';

/** The context of a paid verb, with the dependencies of its run. */
export type PaidContext = VerbContext & { readonly runs: RunDependencies };

/** The stored suggestions, and the credits charged: 0 without suggestions. */
type Priced<Result extends Suggestions> = Omit<Result, 'kind'> & { readonly credits: number };

async function pay(context: PaidContext, describe: (tx: Tx) => Promise<NewOperation>): Promise<PaidResult> {
  const operation = await inTransaction(context.db, async (tx) =>
    reserveOperation(tx, context, await describe(tx)),
  );
  return runOperation(context.runs, context, operation);
}

async function payForCategories(
  context: PaidContext,
  target: { type: 'article' | 'project'; id: ArticleId | ProjectId },
): Promise<PaidResult> {
  return pay(context, async (tx) => {
    await tx
      .selectFrom(target.type === 'article' ? 'articles' : 'projects')
      .select('id')
      .where('workspace_id', '=', context.actor.workspaceId)
      .where('id', '=', target.id)
      .executeTakeFirstOrThrow(() => notFound(target.type));
    return {
      kind: `${target.type}_categories`,
      targetId: target.id,
      credits: SUGGESTION_CREDITS,
      audit: { action: 'categories.suggested', targetType: target.type },
    };
  });
}

/**
 * Suggests categories for an article (articles.update).
 * @throws {ServiceError} RESOURCE_NOT_FOUND, INSUFFICIENT_CREDITS, QUOTA_EXCEEDED or SERVICE_UNAVAILABLE; nothing
 *   is charged then
 */
export async function suggestForArticle(
  context: PaidContext,
  articleId: ArticleId,
): Promise<Priced<ArticleSuggestions>> {
  requirePermissions(context.actor, 'articles.update');
  const { suggestions, credits } = await payForCategories(context, { type: 'article', id: articleId });
  const { existing, proposed } =
    suggestions?.kind === 'article_categories' ? suggestions : { existing: [], proposed: [] };
  return { existing, proposed, credits };
}

/**
 * Suggests new categories for a project (categories.create, articles.read).
 * @throws {ServiceError} as `suggestForArticle`
 */
export async function suggestForProject(
  context: PaidContext,
  projectId: ProjectId,
): Promise<Priced<ProjectSuggestions>> {
  requirePermissions(context.actor, 'categories.create', 'articles.read');
  const { suggestions, credits } = await payForCategories(context, { type: 'project', id: projectId });
  return { categories: suggestions?.kind === 'project_categories' ? suggestions.categories : [], credits };
}

/**
 * Suggests a category's name in other languages (categories.update).
 * @throws {ServiceError} INVALID_REQUEST for the primary language, or as `suggestForArticle`
 */
export async function translateNames(
  context: PaidContext,
  categoryId: CategoryId,
  { languages }: z.infer<typeof translateNamesBody>,
): Promise<Priced<NameSuggestions>> {
  requirePermissions(context.actor, 'categories.update');
  const { suggestions, credits } = await pay(context, async (tx) => {
    const category = await tx
      .selectFrom('categories')
      .select('primary_language')
      .where('workspace_id', '=', context.actor.workspaceId)
      .where('id', '=', categoryId)
      .executeTakeFirstOrThrow(() => notFound('category'));
    const primary = languages.indexOf(category.primary_language);
    if (primary !== -1) {
      throw invalid(
        `/languages/${primary}`,
        `${category.primary_language} is the category's primary language, which names are translated from.`,
      );
    }
    return {
      kind: 'category_names',
      targetId: categoryId,
      languages,
      credits: namesPrice(languages.length),
      audit: { action: 'categories.names_suggested', targetType: 'category' },
    };
  });
  return { names: suggestions?.kind === 'category_names' ? suggestions.names : [], credits };
}
