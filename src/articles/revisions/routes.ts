import { z } from 'zod';
import { defineListOfArticle } from '../../http/list-of-article.ts';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { pathId } from '../../http/scope.ts';
import type { RevisionId } from '../../ids.ts';
import { articleResponse, IF_MATCH, respondWithArticle } from '../responses.ts';
import { listRevisions, readRevision } from './read.ts';
import { restoreRevision } from './restore.ts';
import { revisionExample, revisionPageSchema, revisionSchema, summaryExample } from './schemas.ts';

const restored = articleResponse('The article as it is now.');

/** What articles said before another author changed them. */
export const createRevisionRoutes = (): RouteModule[] => [
  defineListOfArticle({
    name: 'revisions',
    operationId: 'listRevisions',
    summary: 'List the revisions of an article',
    description:
      'What the article said before: kept whenever another author, a person or a job, changes it, and whenever its author does so more than five minutes after they began. At most 50 are kept, none longer than the retention of the deployment (30 days as it comes). The one replaced last comes first, page by page, without bodies.',
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
      summary: 'Restore a revision',
      description:
        'Saves title, document, meta fields and keywords of the revision, as a save of yours does: with If-Match, with article.updated when the article is PUBLISHED, and with 409 while a job works on the article. What it replaces is kept as a revision in any case. Status, images and categories stay as they are: an image that was deleted meanwhile does not come back, its block shows nothing, and `missingImages` names it. A body that breaks a rule of the format by now, or shows the image that has become the hero, is 400.',
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
      errors: ['CONFLICT', 'PRECONDITION_FAILED'],
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
