import { requirePermissions, type VerbContext } from '../context.ts';
import { notFound } from '../errors.ts';
import { bytesToRead } from '../http/limits.ts';
import type { ArticleId, ProjectId } from '../ids.ts';
import { requireRoom } from '../threads/share.ts';
import { articleColumns } from './queries.ts';
import type { ArticleResponse } from './schemas.ts';
import { showArticle } from './show.ts';

export interface FoundBySlug {
  readonly article: ArticleResponse;
  /** True for an earlier slug of a published article: a site should redirect to the current one. */
  readonly redirect: boolean;
}

/**
 * Finds the article with this slug, else the one that had it while published (articles.read).
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function findBySlug(
  { db, actor }: VerbContext,
  { projectId, language, slug }: { projectId: ProjectId; language: string; slug: string },
): Promise<FoundBySlug> {
  requirePermissions(actor, 'articles.read');
  const sizes = db
    .selectFrom('articles')
    .select(['articles.id', 'articles.bytes'])
    .where('articles.workspace_id', '=', actor.workspaceId);
  const show = async (found: { id: ArticleId; bytes: number }, redirect: boolean) => {
    requireRoom(bytesToRead(found.bytes));
    const row = await db
      .selectFrom('articles')
      .select(articleColumns)
      .where('id', '=', found.id)
      .executeTakeFirstOrThrow(() => notFound('article'));
    return { article: (await showArticle(db, row)).article, redirect };
  };
  const current = await sizes
    .where('project_id', '=', projectId)
    .where('primary_language', '=', language)
    .where('slug', '=', slug)
    .executeTakeFirst();
  if (current !== undefined) return show(current, false);
  const former = await sizes
    .where('id', '=', (eb) =>
      eb
        .selectFrom('article_slug_redirects')
        .select('article_id')
        .where('article_slug_redirects.project_id', '=', projectId)
        .where('language', '=', language)
        .where('article_slug_redirects.slug', '=', slug),
    )
    .executeTakeFirstOrThrow(() => notFound('article'));
  return show(former, true);
}
