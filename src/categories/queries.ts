import { type ExpressionBuilder, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { Queryable, Tx } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { notFound } from '../errors.ts';
import { iso } from '../fields.ts';
import type { CategoryId, CategoryNameId, WorkspaceId } from '../ids.ts';
import type { CurrentCategory } from './change.ts';
import type { Category, ListedCategory, ReducedCategory } from './schemas.ts';

/** Tags are ASCII: byte order, independent of the database's collation. */
const byLanguage = sql`category_names.language COLLATE "C"`;

const namesOf = (eb: ExpressionBuilder<Tables, 'categories'>) =>
  jsonArrayFrom(
    eb
      .selectFrom('category_names')
      .select(['id', 'language', 'name', 'slug', 'created_at', 'updated_at'])
      .whereRef('category_names.category_id', '=', 'categories.id')
      .orderBy(byLanguage),
  );

const categoriesOf = (db: Queryable, workspaceId: WorkspaceId) =>
  db
    .selectFrom('categories')
    .select(['categories.id', 'primary_language', 'categories.created_at', 'categories.updated_at'])
    .select((eb) => namesOf(eb).as('names'))
    .where('categories.workspace_id', '=', workspaceId);

type CategoryRow = Awaited<ReturnType<ReturnType<typeof categoriesOf>['executeTakeFirstOrThrow']>>;

const toCategory = (workspaceId: WorkspaceId, row: CategoryRow): Category => ({
  id: row.id,
  workspaceId,
  primaryLanguage: row.primary_language,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
  translations: row.names.map(({ id, language, name, slug, created_at, updated_at }) => ({
    id,
    categoryId: row.id,
    workspaceId,
    language,
    name,
    slug,
    createdAt: iso(new Date(created_at)),
    updatedAt: iso(new Date(updated_at)),
  })),
});

/** A category that is known to exist, its names sorted by language tag. */
export async function selectCategory(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: CategoryId,
): Promise<Category> {
  const row = await categoriesOf(db, workspaceId).where('categories.id', '=', id).executeTakeFirstOrThrow();
  return toCategory(workspaceId, row);
}

/** Every category of the workspace with the count of its articles, oldest first, in one query (contract.md C13). */
export async function listCategories({ db, actor }: VerbContext): Promise<ListedCategory[]> {
  requirePermissions(actor, 'categories.read');
  const rows = await categoriesOf(db, actor.workspaceId)
    .select((eb) =>
      eb
        .selectFrom('article_categories')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('article_categories.category_id', '=', 'categories.id')
        .as('article_count'),
    )
    .orderBy('categories.created_at')
    .orderBy('categories.id')
    .execute();
  return rows.map((row) => ({ ...toCategory(actor.workspaceId, row), articleCount: row.article_count ?? 0 }));
}

/** The reduced shape of each of these categories, in the order of `ids`. */
export async function selectReduced(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly CategoryId[],
): Promise<ReducedCategory[]> {
  if (ids.length === 0) return [];
  const rows = await categoriesOf(db, workspaceId).where('categories.id', 'in', ids).execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    if (row === undefined) return [];
    const translations = row.names.map(({ language, name, slug }) => ({ language, name, slug }));
    return [{ id, primaryLanguage: row.primary_language, translations }];
  });
}

/**
 * Locks a category that is about to change, and reads it. The lock is FOR UPDATE, so that assigning the category
 * waits: every article that carries it when the change commits gets an event, from this change or from a later assignment.
 * @throws {ServiceError} RESOURCE_NOT_FOUND for an unknown or foreign category
 */
export async function lockCategory(
  tx: Tx,
  workspaceId: WorkspaceId,
  id: CategoryId,
): Promise<CurrentCategory> {
  const category = await tx
    .selectFrom('categories')
    .select('primary_language')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow(() => notFound('category'));
  const names: { id: CategoryNameId; language: string; name: string; slug: string }[] = await tx
    .selectFrom('category_names')
    .select(['id', 'language', 'name', 'slug'])
    .where('workspace_id', '=', workspaceId)
    .where('category_id', '=', id)
    .orderBy(byLanguage)
    .execute();
  return { primaryLanguage: category.primary_language, names };
}
