import { z } from 'zod';
import { articleExample } from '../articles/examples.ts';
import { articleSchema } from '../articles/schemas.ts';
import { MAX_IF_MATCH } from '../http/etag.ts';
import { defineListOfArticle } from '../http/list-of-article.ts';
import { nextCursor } from '../http/paging.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { created } from '../http/success.ts';
import { reviewArticle } from './create.ts';
import { listReviews } from './list.ts';
import { type Review, reviewBody, reviewSchema } from './schemas.ts';

const example: Review = {
  id: '6f2b9d1c-7e40-4a3b-8d15-2c0f9e6a4b73',
  articleId: articleExample.id,
  workspaceId: articleExample.workspaceId,
  decision: 'changes_requested',
  previousStatus: 'NEEDS_REVIEW',
  comment: 'Please name the plants.',
  contentTag: articleExample.contentTag,
  createdAt: '2026-11-21T08:00:00.000Z',
};

/** Reviewers' decisions. */
export const createReviewRoutes = (): RouteModule[] => [
  defineListOfArticle({
    name: 'reviews',
    operationId: 'listReviews',
    summary: 'List the reviews of an article',
    description: 'Newest first, page by page.',
    tags: ['Reviews'],
    schema: z.object({
      reviews: z.array(reviewSchema),
      nextCursor,
    }),
    example: { reviews: [example], nextCursor: null },
    list: listReviews,
  }),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/reviews',
      operationId: 'reviewArticle',
      summary: 'Review an article',
      description:
        'NEEDS_REVIEW can be approved. NEEDS_REVIEW, APPROVED and PUBLISHED can be rejected or sent back for changes, and become CHANGES_REQUESTED; a PUBLISHED one is then unpublished. From any other status 409. Emits article.approved, or article.rejected, followed by article.unpublished for a PUBLISHED one. Send the contentTag of the article you read as If-Match: if the content has changed since, the response is 412 and nothing is decided.',
      tags: ['Reviews'],
      scope: 'article',
      permissions: ['articles.review'],
      body: reviewBody,
      bodyExample: { decision: 'changes_requested', comment: example.comment },
      responses: {
        201: {
          description: 'The review, and the article as it is now.',
          schema: z.object({ review: reviewSchema, article: articleSchema }),
          example: { review: example, article: { ...articleExample, status: 'CHANGES_REQUESTED' } },
        },
      },
      headers: {
        'If-Match': {
          description: 'The contentTag of the article that the decision is about. Without it any content is.',
          maxLength: MAX_IF_MATCH,
        },
      },
      errors: ['CONFLICT', 'PRECONDITION_FAILED'],
    },
    async ({ context, params, body, headers }) =>
      created(await reviewArticle(context, params.articleId, body, headers.get('if-match') ?? undefined)),
  ),
];
