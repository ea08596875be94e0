import { z } from 'zod';
import { decodeCursor, nextCursor } from '../http/paging.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import type { ArticleId } from '../ids.ts';
import { answerArticle, articleAnswer } from './answers.ts';
import { articleExample, summaryExample } from './examples.ts';
import { findBySlug } from './find-by-slug.ts';
import { bySlugQuery, listArticlesQuery } from './input-schemas.ts';
import { listArticles, listVersions } from './list.ts';
import { readArticle } from './read.ts';
import { articleSchema, articleSummarySchema } from './schemas.ts';

/** Reading articles. */
export const createArticleReadRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/articles',
      operationId: 'listArticles',
      summary: 'List articles',
      description:
        'Newest first, page by page, without bodies. A filter that matches nothing in the workspace gives an empty list.',
      tags: ['Articles'],
      scope: 'workspace',
      permissions: ['articles.read'],
      query: listArticlesQuery,
      responses: {
        200: {
          description: 'One page.',
          schema: z.object({
            articles: z.array(articleSummarySchema),
            nextCursor,
          }),
          example: { articles: [summaryExample], nextCursor: null },
        },
      },
    },
    async ({ context, query: { cursor, ...query } }) => ({
      status: 200,
      body: await listArticles(context, { ...query, position: decodeCursor<ArticleId>(cursor) }),
    }),
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/projects/{projectId}/articles/by-slug',
      operationId: 'findArticleBySlug',
      summary: 'Find an article by its slug',
      description:
        'A slug that an article had while published still finds it: `redirect` is then true, and a site should redirect its readers to the current slug.',
      tags: ['Articles'],
      scope: 'project',
      permissions: ['articles.read'],
      query: bySlugQuery,
      responses: {
        200: {
          description: 'The article.',
          schema: z.object({ article: articleSchema, redirect: z.boolean() }),
          example: { article: articleExample, redirect: true },
        },
      },
    },
    async ({ context, params, query }) => ({
      status: 200,
      body: await findBySlug(context, { projectId: params.projectId, ...query }),
    }),
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}',
      operationId: 'readArticle',
      summary: 'Read an article',
      tags: ['Articles'],
      scope: 'article',
      permissions: ['articles.read'],
      responses: { 200: articleAnswer('The article.') },
    },
    async ({ context, params }) => answerArticle(await readArticle(context, params.articleId)),
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}/versions',
      operationId: 'listArticleVersions',
      summary: 'List the language versions of an article',
      description: 'Every version in its translation group, itself included, sorted by language tag.',
      tags: ['Articles'],
      scope: 'article',
      permissions: ['articles.read'],
      responses: {
        200: {
          description: 'The versions.',
          schema: z.object({ versions: z.array(articleSummarySchema) }),
          example: { versions: [summaryExample] },
        },
      },
    },
    async ({ context, params }) => ({
      status: 200,
      body: { versions: await listVersions(context, params.articleId) },
    }),
  ),
];
