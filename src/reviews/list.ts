import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../context.ts';
import { iso } from '../http/fields.ts';
import { encodeCursor, type Position } from '../http/paging.ts';
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
  if (position !== null) {
    query = query.where(sql<boolean>`(created_at, id) < (${iso(position.at)}, ${position.id})`);
  }
  const rows = await query.execute();
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    reviews: shown.map(toReview),
    nextCursor:
      rows.length > limit && last !== undefined ? encodeCursor({ at: last.created_at, id: last.id }) : null,
  };
}
