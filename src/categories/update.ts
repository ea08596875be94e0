import { sql } from 'kysely';
import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { clockTimestamp } from '../db/clock.ts';
import type { Tx } from '../db/database.ts';
import { announceToCarriers } from '../events/fan-out.ts';
import type { CategoryId } from '../ids.ts';
import { type CategoryChange, type CategoryPatch, type CurrentCategory, planChange } from './change.ts';
import { addName, type CategoryKey, removeName, renameName, requireRoom, withFreeSlugs } from './names.ts';
import { lockCategory, selectCategory } from './queries.ts';
import type { Category } from './schemas.ts';

/**
 * Applies a patch as one decision (contract.md C7 to C11) and emits an event for each PUBLISHED article that carries
 * the category. A patch that changes nothing emits nothing and leaves updatedAt.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; INVALID_REQUEST when no name would be left in the primary language;
 *   CONFLICT `name_taken` or `category_limit`
 */
export async function updateCategory(
  context: VerbContext,
  id: CategoryId,
  patch: CategoryPatch,
): Promise<Category> {
  const { db, actor } = context;
  requirePermissions(actor, 'categories.update');
  const { workspaceId } = actor;
  return withFreeSlugs(db, async (tx) => {
    const current = await lockCategory(tx, workspaceId, id);
    const change = planChange(current, patch);
    let announcement = { articles: 0, announced: 0 };
    if (change.changesAnything) {
      const counted = { add: 1, rename: 0, remove: -1 };
      const more = change.names.reduce((sum, { kind }) => sum + counted[kind], 0);
      await requireRoom(tx, workspaceId, more);
      await applyChange(tx, { workspaceId, categoryId: id }, change);
      const carriers = sql`
        SELECT article_id FROM article_categories WHERE workspace_id = ${workspaceId} AND category_id = ${id}`;
      announcement = await announceToCarriers(tx, context, carriers, ['categories']);
    }
    await recordAudit(tx, context, {
      action: 'categories.updated',
      targetType: 'category',
      targetId: id,
      details: { ...describeChange(current, change), ...announcement },
    });
    return selectCategory(tx, workspaceId, id);
  });
}

async function applyChange(tx: Tx, category: CategoryKey, change: CategoryChange): Promise<void> {
  const { workspaceId, categoryId } = category;
  // The clock, not the transaction's start, which may be earlier than the change this one waited for.
  const { updated_at: at } = await tx
    .updateTable('categories')
    .set({ primary_language: change.primaryLanguage, updated_at: clockTimestamp })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', categoryId)
    .returning('updated_at')
    .executeTakeFirstOrThrow();
  for (const name of change.names) {
    if (name.kind === 'add') await addName(tx, category, name.to, at);
    else if (name.kind === 'rename') await renameName(tx, workspaceId, name.from, name.to, at);
    else await removeName(tx, workspaceId, name.from.id);
  }
}

/** The audit details of a change: only what differs afterwards. */
const describeChange = (current: CurrentCategory, change: CategoryChange) => ({
  ...(change.primaryLanguage === current.primaryLanguage
    ? {}
    : { primaryLanguage: { before: current.primaryLanguage, after: change.primaryLanguage } }),
  names: change.names.map((name) => ({
    language: name.kind === 'remove' ? name.from.language : name.to.language,
    before: name.kind === 'add' ? null : name.from.name,
    after: name.kind === 'remove' ? null : name.to.name,
  })),
});
