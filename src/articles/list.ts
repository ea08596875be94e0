import { type SelectQueryBuilder, sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inLivingProject } from '../db/living-projects.ts';
import type { ArticleStatus, Tables } from '../db/tables.ts';
import { notFound } from '../errors.ts';
import { type PageRequest, readFirst, readPage } from '../http/paging.ts';
import type { ListPage } from '../http/stream-list.ts';
import type { ArticleId, CategoryId, ProjectId } from '../ids.ts';
import { summaryColumns } from './queries.ts';
import { type ArticleSummary, toSummary } from './schemas.ts';

/** Filters, combined by AND. */
export interface ArticleFilter {
  readonly projectId?: ProjectId | undefined;
  readonly status?: ArticleStatus | undefined;
  /** Canonical tag. */
  readonly language?: string | undefined;
  readonly categoryId?: CategoryId | undefined;
}

export interface ArticlePage {
  readonly articles: ArticleSummary[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * One page of the workspace's articles (articles.read), newest first, beginning after `position`. The
 * position is a key of the index the page is read from, so a late page costs what the first one does.
 */
export async function listArticles(
  { db, actor }: VerbContext,
  { projectId, status, language, categoryId, ...page }: ArticleFilter & PageRequest<ArticleId>,
): Promise<ArticlePage> {
  requirePermissions(actor, 'articles.read');
  let query = db
    .selectFrom('articles')
    .select(summaryColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where(inLivingProject(actor.workspaceId));
  if (projectId !== undefined) query = query.where('project_id', '=', projectId);
  if (status !== undefined) query = query.where('status', '=', status);
  if (language !== undefined) query = query.where('primary_language', '=', language);
  if (categoryId !== undefined) {
    query = query.where((eb) =>
      eb.exists(
        eb
          .selectFrom('article_categories')
          .select(sql.lit(1).as('one'))
          .whereRef('article_categories.article_id', '=', 'articles.id')
          .where('article_categories.category_id', '=', categoryId),
      ),
    );
  }
  const { rows, nextCursor } = await readPage(db, query, page);
  return { articles: rows.map(toSummary), nextCursor };
}

/** Versions of a page at most. Each of them is measured, and may be wide. */
const PAGE_VERSIONS = 20;

/** A query for the versions of the article's group, itself included, whose language follows `after`. */
export const versionsOf = ({ db, actor }: VerbContext, articleId: ArticleId, after: string) =>
  db
    .selectFrom('articles')
    .where('articles.workspace_id', '=', actor.workspaceId)
    .where('articles.translation_group_id', '=', (eb) =>
      eb
        .selectFrom('articles as self')
        .select('self.translation_group_id')
        .where('self.workspace_id', '=', actor.workspaceId)
        .where('self.id', '=', articleId),
    )
    .where(sql<boolean>`articles.primary_language COLLATE "C" > ${after}`);

/**
 * Runs such a query by language tag.
 * @returns the rows, and the language after which the next page begins; null on the last one
 * @throws {ServiceError} RESOURCE_NOT_FOUND when the group is gone
 */
export async function readVersionPage<Row extends { primary_language: string }>(
  { db }: VerbContext,
  query: SelectQueryBuilder<Tables, 'articles', Row>,
  after: string,
): Promise<{ rows: Row[]; last: string | null }> {
  const { rows, more } = await readFirst(db, query, sql`primary_language COLLATE "C"`, PAGE_VERSIONS);
  if (rows.length === 0 && after === '') throw notFound('article');
  return { rows, last: more ? (rows.at(-1)?.primary_language ?? null) : null };
}

/**
 * The language versions of the article's group after a language, itself included (articles.read), by language tag.
 * @returns ArticleSummaries as JSON
 */
export async function readVersions(
  context: VerbContext,
  articleId: ArticleId,
  after: string,
): Promise<ListPage<string>> {
  requirePermissions(context.actor, 'articles.read');
  const query = versionsOf(context, articleId, after).select(summaryColumns);
  const { rows, last } = await readVersionPage(context, query, after);
  return { items: rows.map((row) => JSON.stringify(toSummary(row))), last };
}
