import { type ExpressionBuilder, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { Queryable, Tx } from '../db/database.ts';
import { isoText } from '../db/iso-text.ts';
import { textStatement } from '../db/prepared.ts';
import type { Tables } from '../db/tables.ts';
import { notFound } from '../errors.ts';
import { iso } from '../fields.ts';
import { type ListPage, PAGE_BYTES } from '../http/stream-list.ts';
import type { CategoryId, CategoryNameId, WorkspaceId } from '../ids.ts';
import type { CurrentCategory } from './change.ts';
import type { Category } from './schemas.ts';

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

/** An existing category, its names sorted by language tag. */
export async function selectCategory(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: CategoryId,
): Promise<Category> {
  const row = await categoriesOf(db, workspaceId).where('categories.id', '=', id).executeTakeFirstOrThrow();
  return toCategory(workspaceId, row);
}

/** Categories of a page at most; fewer where they have many names. */
const PAGE_CATEGORIES = 500;

/** Where a page of categories ended. */
export interface CategoryPosition {
  /** A time as Postgres writes it. */
  readonly at: string;
  readonly id: CategoryId;
}

export const BEFORE_ALL_CATEGORIES: CategoryPosition = {
  at: '-infinity',
  id: '00000000-0000-0000-0000-000000000000' as CategoryId,
};

/** JSON is built by Postgres: a workspace may have thousands of names. Cut where a page would be above its bytes. */
const pageOfCategories = textStatement<{ id: CategoryId; at: string; item: string; found: number }>(
  'page_of_categories',
  `SELECT id, created_at::text AS at, item, found FROM (
     SELECT id, created_at, item, count(*) OVER ()::integer AS found, row_number() OVER oldest AS position,
       sum(octet_length(item) + 1) OVER oldest AS bytes
     FROM (
       SELECT id, created_at, json_build_object('id', id, 'workspaceId', workspace_id, 'primaryLanguage', primary_language,
         'createdAt', ${isoText('created_at')}, 'updatedAt', ${isoText('updated_at')},
         'translations', (
           SELECT json_agg(json_build_object('id', n.id, 'categoryId', category_id, 'workspaceId', n.workspace_id,
             'language', language, 'name', name, 'slug', slug,
             'createdAt', ${isoText('n.created_at')}, 'updatedAt', ${isoText('n.updated_at')}) ORDER BY language COLLATE "C")
           FROM category_names AS n WHERE n.category_id = categories.id),
         'articleCount', (SELECT count(*) FROM article_categories AS link WHERE link.category_id = categories.id) - (
           SELECT count(*) FROM projects AS gone JOIN articles AS article ON article.project_id = gone.id
           JOIN article_categories AS link ON link.article_id = article.id AND link.category_id = categories.id
           WHERE gone.workspace_id = categories.workspace_id AND gone.deleted_at IS NOT NULL))::text AS item
       FROM categories WHERE workspace_id = $1 AND (created_at, id) > ($2::timestamptz, $3::uuid)
       ORDER BY created_at, id LIMIT ${PAGE_CATEGORIES}
     ) AS page WINDOW oldest AS (ORDER BY created_at, id)
   ) AS measured
   WHERE bytes <= ${PAGE_BYTES} - 64 OR position = 1 ORDER BY created_at, id`,
);

/**
 * The categories of the workspace after a position with the counts of their articles, oldest first (contract.md C13).
 * @returns ListedCategories as JSON
 */
export async function readCategories(
  { db, actor }: VerbContext,
  after: CategoryPosition,
): Promise<ListPage<CategoryPosition>> {
  requirePermissions(actor, 'categories.read');
  const rows = await pageOfCategories(db, actor.workspaceId, after.at, after.id);
  const last = rows.at(-1);
  const more = last !== undefined && (last.found > rows.length || rows.length === PAGE_CATEGORIES);
  return { items: rows.map(({ item }) => item), last: more ? { at: last.at, id: last.id } : null };
}

/** SQL over `categories`: a ReducedCategory. */
export const REDUCED = sql`json_build_object('id', categories.id, 'primaryLanguage', categories.primary_language,
  'translations', (
    SELECT coalesce(json_agg(json_build_object('language', language, 'name', name, 'slug', slug) ORDER BY ${byLanguage}), '[]')
    FROM category_names WHERE category_names.category_id = categories.id))`;

/**
 * Locks a category that is about to change, and reads it. FOR UPDATE makes assignments wait: every article that carries
 * it at the commit gets an event, from this change or from a later assignment.
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
