import { defineRoute, type RouteModule } from '../http/route.ts';
import { answerArticle, articleAnswer } from './answers.ts';
import { publishArticle, unpublishArticle } from './publish.ts';
import { submitArticle } from './submit.ts';

/** Moving articles through their states; reviewers' decisions are reviews. */
export const createArticleMoveRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/submit',
      operationId: 'submitArticle',
      summary: 'Submit an article for review',
      description: 'DRAFT or CHANGES_REQUESTED becomes NEEDS_REVIEW; from any other status 409.',
      tags: ['Articles'],
      scope: 'article',
      permissions: ['articles.update'],
      responses: { 200: articleAnswer('The article.', { status: 'NEEDS_REVIEW' }) },
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => answerArticle(await submitArticle(context, params.articleId)),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/publish',
      operationId: 'publishArticle',
      summary: 'Publish an article',
      description:
        'APPROVED becomes PUBLISHED; from any other status 409. Renders the body again. Emits article.published.',
      tags: ['Articles'],
      scope: 'article',
      permissions: ['articles.publish'],
      responses: {
        200: articleAnswer('The article.', { status: 'PUBLISHED', publishedAt: '2026-11-21T09:00:00.000Z' }),
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => answerArticle(await publishArticle(context, params.articleId)),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/unpublish',
      operationId: 'unpublishArticle',
      summary: 'Unpublish an article',
      description:
        'PUBLISHED becomes DRAFT, and publishedAt stays; from any other status 409. Emits article.unpublished.',
      tags: ['Articles'],
      scope: 'article',
      permissions: ['articles.publish'],
      responses: { 200: articleAnswer('The article.', { publishedAt: '2026-11-21T09:00:00.000Z' }) },
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => answerArticle(await unpublishArticle(context, params.articleId)),
  ),
];
