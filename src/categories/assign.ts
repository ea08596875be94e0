import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { type FieldIssue, notFound, ServiceError } from '../errors.ts';
import { recordArticleUpdates } from '../events/article-updates.ts';
import type { ArticleId, CategoryId, WorkspaceId } from '../ids.ts';
import { selectReduced } from './queries.ts';
import type { ReducedCategory } from './schemas.ts';

export interface AssignCategoriesInput {
  readonly articleId: ArticleId;
  /** In the wanted order, up to 50 with repeats; the first occurrence of an id counts. */
  readonly categoryIds: readonly CategoryId[];
}

/**
 * Replaces an article's categories (contract.md C14 to C16), whatever its status and its jobs. A new order of the same
 * set is stored and emits nothing.
 * @returns the categories in the order assigned
 * @throws {ServiceError} RESOURCE_NOT_FOUND for the article; INVALID_REQUEST naming each id that is not a category of
 *   its workspace, including one deleted concurrently
 */
export async function assignCategories(
  context: VerbContext,
  { articleId, categoryIds }: AssignCategoriesInput,
): Promise<ReducedCategory[]> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.update');
  const { workspaceId } = actor;
  const wanted = [...new Set(categoryIds)];
  return inTransaction(db, async (tx) => {
    await lockArticle(tx, workspaceId, articleId);
    await lockCategories(tx, workspaceId, wanted, categoryIds);
    const before = await carried(tx, workspaceId, articleId);
    await replaceLinks(tx, workspaceId, articleId, wanted);
    const setChanged = new Set(wanted).symmetricDifference(new Set(before)).size > 0;
    if (setChanged) {
      await recordArticleUpdates(tx, context, [articleId], ['categories']);
    }
    await recordAudit(tx, context, {
      action: 'articles.categories_assigned',
      targetType: 'article',
      targetId: articleId,
      details: { before, after: wanted },
    });
    return selectReduced(tx, workspaceId, wanted);
  });
}

/** Serialises assignments to one article; references to the article are not blocked. */
async function lockArticle(tx: Tx, workspaceId: WorkspaceId, articleId: ArticleId): Promise<void> {
  await tx
    .selectFrom('articles')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', articleId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow(() => notFound('article'));
}

/** Locks the categories by id before their links are written: a concurrent deletion waits, or they are already gone. */
async function lockCategories(
  tx: Tx,
  workspaceId: WorkspaceId,
  wanted: readonly CategoryId[],
  given: readonly CategoryId[],
): Promise<void> {
  if (wanted.length === 0) return;
  const rows = await tx
    .selectFrom('categories')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', wanted)
    .orderBy('id')
    .forKeyShare()
    .execute();
  const found = new Set(rows.map(({ id }) => id));
  const issues = given.flatMap((id, index): FieldIssue[] =>
    found.has(id) ? [] : [{ pointer: `/categoryIds/${index}`, detail: 'No such category in the workspace.' }],
  );
  if (issues.length === 0) return;
  throw new ServiceError('INVALID_REQUEST', "Every id must be a category of the article's workspace.", {
    issues,
  });
}

/** The article's categories in order. */
async function carried(tx: Tx, workspaceId: WorkspaceId, articleId: ArticleId): Promise<CategoryId[]> {
  const rows = await tx
    .selectFrom('article_categories')
    .select('category_id')
    .where('workspace_id', '=', workspaceId)
    .where('article_id', '=', articleId)
    .orderBy('position')
    .orderBy('category_id')
    .execute();
  return rows.map((row) => row.category_id);
}

async function replaceLinks(
  tx: Tx,
  workspaceId: WorkspaceId,
  articleId: ArticleId,
  wanted: readonly CategoryId[],
): Promise<void> {
  await tx
    .deleteFrom('article_categories')
    .where('workspace_id', '=', workspaceId)
    .where('article_id', '=', articleId)
    .$if(wanted.length > 0, (query) => query.where('category_id', 'not in', wanted))
    .execute();
  if (wanted.length === 0) return;
  await tx
    .insertInto('article_categories')
    .values(
      wanted.map((id, position) => ({
        workspace_id: workspaceId,
        article_id: articleId,
        category_id: id,
        position,
      })),
    )
    .onConflict((on) =>
      on
        .columns(['article_id', 'category_id'])
        .doUpdateSet((eb) => ({ position: eb.ref('excluded.position') })),
    )
    .execute();
}
