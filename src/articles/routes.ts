import { z } from 'zod';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { readArticle } from './read.ts';
import { articleSchema } from './schemas.ts';

/** Reading articles. */
export const createArticleRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}',
      operationId: 'readArticle',
      summary: 'Read an article',
      tags: ['Articles'],
      scope: 'article',
      permissions: ['articles.read'],
      responses: { 200: { description: 'The article.', schema: z.object({ article: articleSchema }) } },
    },
    async ({ context, params }) => ({
      status: 200,
      body: { article: await readArticle(context, params.articleId) },
    }),
  ),
];
