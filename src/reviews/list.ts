import { requirePermissions, type VerbContext } from '../context.ts';
import { type PageRequest, readPage } from '../http/paging.ts';
import type { ArticleId, ReviewId } from '../ids.ts';
import { type Review, reviewColumns, toReview } from './schemas.ts';

/** One page of an article's reviews (articles.read), newest first, after `position`. */
export async function listReviews(
  { db, actor }: VerbContext,
  articleId: ArticleId,
  page: PageRequest<ReviewId>,
): Promise<{ reviews: Review[]; nextCursor: string | null }> {
  requirePermissions(actor, 'articles.read');
  const query = db
    .selectFrom('reviews')
    .select(reviewColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId);
  const { rows, nextCursor } = await readPage(db, query, page);
  return { reviews: rows.map(toReview), nextCursor };
}
