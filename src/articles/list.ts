import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inLivingProject } from '../db/living-projects.ts';
import type { ArticleStatus } from '../db/tables.ts';
import { notFound } from '../errors.ts';
import { type PageRequest, readPage } from '../http/paging.ts';
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

/** Every language version of the article's group, itself included (articles.read), by language tag. */
export async function listVersions(
  { db, actor }: VerbContext,
  articleId: ArticleId,
): Promise<ArticleSummary[]> {
  requirePermissions(actor, 'articles.read');
  const rows = await db
    .selectFrom('articles')
    .select(summaryColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('translation_group_id', '=', (eb) =>
      eb
        .selectFrom('articles as self')
        .select('self.translation_group_id')
        .where('self.workspace_id', '=', actor.workspaceId)
        .where('self.id', '=', articleId),
    )
    .orderBy(sql`primary_language COLLATE "C"`)
    .execute();
  if (rows.length === 0) throw notFound('article');
  return rows.map(toSummary);
}
