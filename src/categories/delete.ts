import { sql } from 'kysely';
import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { announceToCarriers } from '../events/fan-out.ts';
import type { CategoryId } from '../ids.ts';
import { lockCategory } from './queries.ts';

/**
 * Deletes a category with its names and links, and emits an event for each PUBLISHED article that carried it
 * (contract.md C12). Returns how many articles of any status carried it.
 * @throws {ServiceError} RESOURCE_NOT_FOUND for an unknown or foreign category
 */
export async function deleteCategory(
  context: VerbContext,
  id: CategoryId,
): Promise<{ readonly articleCount: number }> {
  const { db, actor } = context;
  requirePermissions(actor, 'categories.delete');
  const { workspaceId } = actor;
  return inTransaction(db, async (tx) => {
    const category = await lockCategory(tx, workspaceId, id);
    // The links are deleted by the foreign key: deleting them here as well would take half as long again.
    const carriers = sql`
      SELECT article_id FROM article_categories WHERE workspace_id = ${workspaceId} AND category_id = ${id}`;
    const { articles, announced } = await announceToCarriers(tx, context, carriers, ['categories']);
    await tx.deleteFrom('categories').where('workspace_id', '=', workspaceId).where('id', '=', id).execute();
    await recordAudit(tx, context, {
      action: 'categories.deleted',
      targetType: 'category',
      targetId: id,
      details: {
        primaryLanguage: category.primaryLanguage,
        names: Object.fromEntries(category.names.map(({ language, name }) => [language, name])),
        articles,
        announced,
      },
    });
    return { articleCount: articles };
  });
}
