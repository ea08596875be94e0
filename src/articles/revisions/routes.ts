import { z } from 'zod';
import { ARTICLE_BODY_BYTES } from '../../document/format/limits.ts';
import { defineListOfArticle } from '../../http/list-of-article.ts';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { pathId } from '../../http/scope.ts';
import type { RevisionId } from '../../ids.ts';
import { articleResponse, IF_MATCH, respondWithArticle } from '../responses.ts';
import { listRevisions, readRevision } from './read.ts';
import { restoreRevision } from './restore.ts';
import { revisionExample, revisionPageSchema, revisionSchema, summaryExample } from './schemas.ts';

const restored = articleResponse('The article as it is now.');

/** Earlier contents of articles. */
export const createRevisionRoutes = (): RouteModule[] => [
  defineListOfArticle({
    name: 'revisions',
    operationId: 'listRevisions',
    summary: 'List the revisions of an article',
    description:
      'Earlier versions of the article. One is kept whenever another author, a person or a job, changes the article, and whenever its author does so more than five minutes after they began. At most 50 are kept, none longer than the retention of the deployment (30 days by default). The latest replaced comes first, page by page, without bodies.',
    tags: ['Articles'],
    schema: revisionPageSchema,
    example: { revisions: [summaryExample], nextCursor: null },
    list: listRevisions,
  }),
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}/revisions/{revisionId}',
      operationId: 'readRevision',
      responseBytes: 4 * ARTICLE_BODY_BYTES,
      summary: 'Read a revision',
      tags: ['Articles'],
      scope: 'article',
      permissions: ['articles.read'],
      responses: {
        200: {
          description: 'The revision.',
          schema: z.object({ revision: revisionSchema }),
          example: { revision: revisionExample },
        },
      },
    },
    async ({ context, params }) => {
      const revisionId = pathId<RevisionId>(params.revisionId, 'revision');
      return {
        status: 200,
        body: { revision: await readRevision(context, params.articleId, revisionId) },
      };
    },
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/revisions/{revisionId}/restore',
      operationId: 'restoreRevision',
      responseBytes: 16 * ARTICLE_BODY_BYTES,
      summary: 'Restore a revision',
      description:
        'Saves title, document, meta fields and keywords of the revision, like any other save: with If-Match, with article.updated when the article is PUBLISHED, and with 409 while a job works on the article. What it replaces is always kept as a revision. Status, images and categories stay as they are: an image deleted since does not come back, its block shows nothing, and `missingImages` names it. 400 when the body breaks a rule of the present format, or shows the image that is now the hero.',
      tags: ['Articles'],
      scope: 'article',
      permissions: ['articles.update'],
      headers: IF_MATCH,
      responses: {
        200: {
          ...restored,
          schema: restored.schema.extend({ missingImages: z.array(z.uuid()) }),
          example: { ...restored.example, missingImages: [] },
        },
      },
      errors: ['CONFLICT', 'PRECONDITION_FAILED', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params, headers }) => {
      const revisionId = pathId<RevisionId>(params.revisionId, 'revision');
      const { restored, missingImages } = await restoreRevision(
        context,
        params.articleId,
        revisionId,
        headers.get('if-match') ?? undefined,
      );
      return respondWithArticle(restored, 200, { missingImages });
    },
  ),
];
