import { z } from 'zod';
import { ARTICLE_BODY_BYTES } from '../document/format/limits.ts';
import { decodeCursor, nextCursor } from '../http/paging.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { streamList } from '../http/stream-list.ts';
import { DONE, doneResponses, ok } from '../http/success.ts';
import type { ArticleId } from '../ids.ts';
import { createArticle } from './create.ts';
import { type CountUnpaid, deleteArticle } from './delete.ts';
import { duplicateArticle } from './duplicate.ts';
import { articleExample, createExample, summaryExample } from './examples.ts';
import { findBySlug } from './find-by-slug.ts';
import {
  bySlugQuery,
  createArticleBody,
  duplicateArticleBody,
  listArticlesQuery,
  publishArticleBody,
  updateArticleBody,
} from './input-schemas.ts';
import { listArticles, readVersions } from './list.ts';
import { publishArticle, unpublishArticle } from './publish.ts';
import { readArticle } from './read.ts';
import { articleResponse, IF_MATCH, respondWithArticle } from './responses.ts';
import { articleSchema, articleSummarySchema } from './schemas.ts';
import { submitArticle } from './submit.ts';
import { updateArticle } from './update.ts';

const PUBLISHED_URL = 'https://example.com/en/a-garden-in-spring';

/** Articles: reading, writing and status changes. Reviewers' decisions are in reviews. */
export const createArticleRoutes = (countUnpaid: CountUnpaid): RouteModule[] => [
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
    async ({ context, query: { cursor, ...query } }) =>
      ok(await listArticles(context, { ...query, position: decodeCursor<ArticleId>(cursor) })),
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
    async ({ context, params, query }) =>
      ok(await findBySlug(context, { projectId: params.projectId, ...query })),
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
      responses: { 200: articleResponse('The article.') },
    },
    async ({ context, params }) => respondWithArticle(await readArticle(context, params.articleId)),
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
    async ({ context, params }) =>
      streamList('versions', '', (after) => readVersions(context, params.articleId, after)),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/projects/{projectId}/articles',
      operationId: 'createArticle',
      summary: 'Create an article',
      description: 'A DRAFT in a translation group of its own. Emits article.created.',
      tags: ['Articles'],
      scope: 'project',
      permissions: ['articles.create'],
      body: createArticleBody,
      bodyChecksAsync: true,
      bodyExample: createExample,
      bodyBytes: ARTICLE_BODY_BYTES,
      responses: { 201: articleResponse('The new article.') },
      errors: ['CONFLICT', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params, body }) =>
      respondWithArticle(await createArticle(context, { projectId: params.projectId, ...body }), 201),
  ),
  defineRoute(
    {
      method: 'patch',
      path: '/api/articles/{articleId}',
      operationId: 'updateArticle',
      summary: 'Save an article',
      description:
        'Changes only the fields you send. Send the ETag of the version you read as If-Match: if someone else has saved since, the response is 412 and nothing is overwritten. Without the header the last save wins. A PUBLISHED article that changed emits article.updated, and its old slug becomes a redirect. 409 while a job works on the article.',
      tags: ['Articles'],
      scope: 'article',
      permissions: ['articles.update'],
      body: updateArticleBody,
      bodyChecksAsync: true,
      bodyExample: { title: 'A garden in early spring' },
      bodyBytes: ARTICLE_BODY_BYTES,
      headers: IF_MATCH,
      responses: {
        200: articleResponse('The article as it is now.', {
          title: 'A garden in early spring',
          slug: 'a-garden-in-early-spring',
        }),
      },
      errors: ['CONFLICT', 'PRECONDITION_FAILED', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params, body, headers }) =>
      respondWithArticle(
        await updateArticle(context, params.articleId, body, headers.get('if-match') ?? undefined),
      ),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/duplicate',
      operationId: 'duplicateArticle',
      summary: 'Duplicate an article',
      description:
        'A DRAFT with the same language, content, images and categories, in a translation group of its own. The copied images count toward the storage quota; revisions stay with the original. Emits article.created.',
      tags: ['Articles'],
      scope: 'article',
      permissions: ['articles.create', 'articles.read'],
      body: duplicateArticleBody,
      bodyOptional: true,
      bodyExample: { title: 'A garden in autumn' },
      responses: { 201: articleResponse('The copy.', { title: 'A garden in autumn' }) },
      errors: ['QUOTA_EXCEEDED'],
    },
    async ({ context, params, body }) =>
      respondWithArticle(await duplicateArticle(context, params.articleId, body?.title), 201),
  ),
  defineRoute(
    {
      method: 'delete',
      path: '/api/articles/{articleId}',
      operationId: 'deleteArticle',
      summary: 'Delete an article',
      description:
        'Permanent: its jobs, reviews, revisions, redirects and images go with it. A PUBLISHED one emits article.unpublished. 409 while a job works on it.',
      tags: ['Articles'],
      scope: 'article',
      permissions: ['articles.delete'],
      responses: doneResponses('Deleted.'),
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => {
      await deleteArticle(context, params.articleId, countUnpaid);
      return DONE;
    },
  ),
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
      responses: { 200: articleResponse('The article.', { status: 'NEEDS_REVIEW' }) },
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => respondWithArticle(await submitArticle(context, params.articleId)),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/publish',
      operationId: 'publishArticle',
      summary: 'Publish an article',
      description:
        'APPROVED becomes PUBLISHED; from any other status 409. Renders the body again. Emits article.published. Links of other articles to this one lead to its publishedUrl, or to what addressTemplate makes of it, from then on.',
      tags: ['Articles'],
      scope: 'article',
      permissions: ['articles.publish'],
      body: publishArticleBody,
      bodyOptional: true,
      bodyExample: { publishedUrl: PUBLISHED_URL },
      responses: {
        200: articleResponse('The article.', {
          status: 'PUBLISHED',
          publishedAt: '2026-11-21T09:00:00.000Z',
          publishedUrl: PUBLISHED_URL,
        }),
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params, body }) =>
      respondWithArticle(await publishArticle(context, params.articleId, body?.publishedUrl)),
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
      responses: { 200: articleResponse('The article.', { publishedAt: '2026-11-21T09:00:00.000Z' }) },
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => respondWithArticle(await unpublishArticle(context, params.articleId)),
  ),
];
