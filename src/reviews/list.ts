import { requirePermissions, type VerbContext } from '../context.ts';
import { olderThan, type Position, pageOf } from '../http/paging.ts';
import type { ArticleId, ReviewId } from '../ids.ts';
import { type Review, reviewColumns, toReview } from './schemas.ts';

/** One page of an article's reviews (articles.read), newest first, beginning after `position`. */
export async function listReviews(
  { db, actor }: VerbContext,
  articleId: ArticleId,
  { limit, position }: { limit: number; position: Position<ReviewId> | null },
): Promise<{ reviews: Review[]; nextCursor: string | null }> {
  requirePermissions(actor, 'articles.read');
  let query = db
    .selectFrom('reviews')
    .select(reviewColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1);
  if (position !== null) query = query.where(olderThan(position));
  const rows = await query.execute();
  const { shown, nextCursor } = pageOf(rows, limit);
  return { reviews: shown.map(toReview), nextCursor };
}
