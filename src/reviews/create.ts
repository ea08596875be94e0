import { contentTag, namedContent } from '../articles/etag.ts';
import { unpublishedEvent } from '../articles/events.ts';
import { type Move, moveArticle } from '../articles/move.ts';
import type { ArticleResponse } from '../articles/schemas.ts';
import { showArticle } from '../articles/show.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { ReviewDecision } from '../db/tables.ts';
import { inTransaction } from '../db/transaction.ts';
import type { NewEvent } from '../events/catalog.ts';
import { recordChange } from '../events/record.ts';
import { type ArticleId, newId, type ReviewId } from '../ids.ts';
import { recordAddressChange } from '../projects/addresses.ts';
import { type Review, reviewColumns, toReview } from './schemas.ts';

/** The transition of each decision. */
const MOVES = {
  approved: 'approve',
  rejected: 'reject',
  changes_requested: 'request_changes',
} as const satisfies Record<ReviewDecision, Exclude<Move, 'publish'>>;

/** Reviews per article; a further one replaces the oldest (contract.md R17). */
const MAX_REVIEWS = 1_000;

/**
 * Records a review and moves the article accordingly (articles.review): article.approved, or article.rejected, followed
 * by article.unpublished when the article was PUBLISHED.
 * @param input.comment up to 5,000 characters
 * @param ifMatch the If-Match header: the contentTag of what the reviewer read, stored with the review (contract.md R19)
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running` or `status`; PRECONDITION_FAILED; INVALID_REQUEST for
 *   a header that is not a list of tags
 */
export async function reviewArticle(
  context: VerbContext,
  articleId: ArticleId,
  input: { decision: ReviewDecision; comment?: string | undefined },
  ifMatch?: string,
): Promise<{ review: Review; article: ArticleResponse }> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.review');
  const { decision, comment = '' } = input;
  const content = namedContent(ifMatch);
  return inTransaction(db, async (tx) => {
    const { before, after } = await moveArticle(tx, actor.workspaceId, articleId, MOVES[decision], content);
    const review = await tx
      .with('dropped', (qb) =>
        qb.deleteFrom('reviews').where('id', 'in', (eb) =>
          eb
            .selectFrom('reviews')
            .select('id')
            .where('article_id', '=', articleId)
            .orderBy('created_at', 'desc')
            .orderBy('id', 'desc')
            .offset(MAX_REVIEWS - 1),
        ),
      )
      .insertInto('reviews')
      .values({
        id: newId<ReviewId>(),
        workspace_id: actor.workspaceId,
        article_id: articleId,
        decision,
        previous_status: before.status,
        comment,
        content_tag: content === null ? null : contentTag(after),
      })
      .returning(reviewColumns)
      .executeTakeFirstOrThrow();
    const reviewId = review.id;
    const events: NewEvent[] =
      decision === 'approved'
        ? [{ type: 'article.approved', data: { articleId, reviewId, previousStatus: before.status } }]
        : [{ type: 'article.rejected', data: { articleId, reviewId, decision } }];
    if (before.status === 'PUBLISHED') events.push(unpublishedEvent(after, after.status));
    const details = { articleId, decision, previousStatus: before.status };
    const audit = { action: 'reviews.created', targetType: 'review', targetId: reviewId, details };
    await recordChange(tx, context, audit, events);
    if (before.status === 'PUBLISHED') {
      await recordAddressChange(tx, context, after);
    }
    return { review: toReview(review), article: (await showArticle(tx, after)).article };
  });
}
