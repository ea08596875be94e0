import { requirePermissions, type VerbContext } from '../context.ts';
import { notFound } from '../errors.ts';
import type { ProjectId } from '../ids.ts';
import { articleColumns } from './queries.ts';
import type { ArticleResponse } from './schemas.ts';
import { showArticle } from './show.ts';

export interface FoundBySlug {
  readonly article: ArticleResponse;
  /** True when the slug is one the article had while it was published: a site redirects to the present one. */
  readonly redirect: boolean;
}

/**
 * The article that has the slug, else the one that had it while it was published (articles.read).
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function findBySlug(
  { db, actor }: VerbContext,
  { projectId, language, slug }: { projectId: ProjectId; language: string; slug: string },
): Promise<FoundBySlug> {
  requirePermissions(actor, 'articles.read');
  const articles = db
    .selectFrom('articles')
    .select(articleColumns)
    .where('articles.workspace_id', '=', actor.workspaceId);
  const current = await articles
    .where('project_id', '=', projectId)
    .where('primary_language', '=', language)
    .where('slug', '=', slug)
    .executeTakeFirst();
  if (current !== undefined) return { article: (await showArticle(db, current)).article, redirect: false };
  const former = await articles
    .where('id', '=', (eb) =>
      eb
        .selectFrom('article_slug_redirects')
        .select('article_id')
        .where('article_slug_redirects.project_id', '=', projectId)
        .where('language', '=', language)
        .where('article_slug_redirects.slug', '=', slug),
    )
    .executeTakeFirstOrThrow(() => notFound('article'));
  return { article: (await showArticle(db, former)).article, redirect: true };
}
