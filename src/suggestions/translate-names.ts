import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { invalid, notFound } from '../errors.ts';
import { type CategoryId, parseId } from '../ids.ts';
import { type ReservedOperation, reserveOperation } from './operations.ts';
import { namesPrice } from './price.ts';

export interface TranslateNames {
  /** As it stands in the path. */
  readonly categoryId: string;
  /** Canonical tags, each once. */
  readonly languages: readonly string[];
}

/**
 * Reserves suggestions of a category's name in other languages. The caller runs it afterwards.
 *
 * @throws {ServiceError} RESOURCE_NOT_FOUND, INVALID_REQUEST for the primary language, INSUFFICIENT_CREDITS or
 *   QUOTA_EXCEEDED; nothing is left behind then
 */
export async function translateNames(
  context: VerbContext,
  { categoryId, languages }: TranslateNames,
): Promise<ReservedOperation> {
  requirePermissions(context.actor, 'categories.update');
  const id = parseId<CategoryId>(categoryId);
  if (id === null) throw notFound('category');
  return inTransaction(context.db, async (tx) => {
    const category = await tx
      .selectFrom('categories')
      .select('primary_language')
      .where('workspace_id', '=', context.actor.workspaceId)
      .where('id', '=', id)
      .executeTakeFirst();
    if (category === undefined) throw notFound('category');
    const primary = languages.indexOf(category.primary_language);
    if (primary !== -1) {
      throw invalid(
        `/languages/${primary}`,
        `${category.primary_language} is the category's primary language, which names are translated from.`,
      );
    }
    return reserveOperation(tx, context, {
      kind: 'category_names',
      targetId: id,
      languages,
      credits: namesPrice(languages.length),
      audit: { action: 'categories.names_suggested', targetType: 'category' },
    });
  });
}
