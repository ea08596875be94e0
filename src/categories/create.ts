import type { z } from 'zod';
import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { type CategoryId, newId } from '../ids.ts';
import { addName, requireRoom, withFreeSlugs } from './names.ts';
import { selectCategory } from './queries.ts';
import type { Category, createCategoryBody } from './schemas.ts';

/**
 * Creates a category of the workspace with its names (contract.md C1 to C4).
 * @throws {ServiceError} CONFLICT `name_taken` when another category has one of the names in that language, or
 *   `category_limit`
 */
export async function createCategory(
  context: VerbContext,
  input: z.output<typeof createCategoryBody>,
): Promise<Category> {
  const { db, actor } = context;
  requirePermissions(actor, 'categories.create');
  const { workspaceId } = actor;
  // In one order everywhere, so that transactions with the same names cannot deadlock.
  const names = [...input.translations].sort((a, b) => (a.language < b.language ? -1 : 1));
  return withFreeSlugs(db, async (tx) => {
    await requireRoom(tx, workspaceId, names.length);
    const categoryId = newId<CategoryId>();
    await tx
      .insertInto('categories')
      .values({ id: categoryId, workspace_id: workspaceId, primary_language: input.primaryLanguage })
      .execute();
    for (const name of names) await addName(tx, { workspaceId, categoryId }, name);
    await recordAudit(tx, context, {
      action: 'categories.created',
      targetType: 'category',
      targetId: categoryId,
      details: {
        primaryLanguage: input.primaryLanguage,
        names: Object.fromEntries(names.map(({ language, name }) => [language, name])),
      },
    });
    return selectCategory(tx, workspaceId, categoryId);
  });
}
