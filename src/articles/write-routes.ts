import { z } from 'zod';
import { ARTICLE_BODY_BYTES } from '../document/format/limits.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { answerArticle, articleAnswer } from './answers.ts';
import { createArticle } from './create.ts';
import { deleteArticle } from './delete.ts';
import { duplicateArticle } from './duplicate.ts';
import { MAX_IF_MATCH } from './etag.ts';
import { createExample } from './examples.ts';
import { createArticleBody, duplicateArticleBody, updateArticleBody } from './input-schemas.ts';
import { updateArticle } from './update.ts';

/** Making, saving, copying and deleting articles. */
export const createArticleWriteRoutes = (): RouteModule[] => [
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
      responses: { 201: articleAnswer('The new article.') },
      errors: ['CONFLICT'],
    },
    async ({ context, params, body }) =>
      answerArticle(await createArticle(context, { projectId: params.projectId, ...body }), 201),
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
      headers: {
        'If-Match': {
          description: 'The ETag of the version that your change is based on.',
          maxLength: MAX_IF_MATCH,
        },
      },
      responses: {
        200: articleAnswer('The article as it is now.', {
          title: 'A garden in early spring',
          slug: 'a-garden-in-early-spring',
        }),
      },
      errors: ['CONFLICT', 'PRECONDITION_FAILED'],
    },
    async ({ context, params, body, headers }) =>
      answerArticle(
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
        'A DRAFT with the same language, content, images and categories, in a translation group of its own. The copied images count toward the storage quota. Emits article.created.',
      tags: ['Articles'],
      scope: 'article',
      permissions: ['articles.create', 'articles.read'],
      body: duplicateArticleBody,
      bodyOptional: true,
      bodyExample: { title: 'A garden in autumn' },
      responses: { 201: articleAnswer('The copy.', { title: 'A garden in autumn' }) },
      errors: ['QUOTA_EXCEEDED'],
    },
    async ({ context, params, body }) =>
      answerArticle(await duplicateArticle(context, params.articleId, body?.title), 201),
  ),
  defineRoute(
    {
      method: 'delete',
      path: '/api/articles/{articleId}',
      operationId: 'deleteArticle',
      summary: 'Delete an article',
      description:
        'Permanent: its jobs, reviews, redirects and images go with it. A PUBLISHED one emits article.unpublished. 409 while a job works on it.',
      tags: ['Articles'],
      scope: 'article',
      permissions: ['articles.delete'],
      responses: {
        200: {
          description: 'Deleted.',
          schema: z.object({ ok: z.literal(true) }),
          example: { ok: true },
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => {
      await deleteArticle(context, params.articleId);
      return { status: 200, body: { ok: true } };
    },
  ),
];
