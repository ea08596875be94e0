import { COMPARING_BYTES } from '../../http/limits.ts';
import { decodeCursor } from '../../http/paging.ts';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { ok } from '../../http/success.ts';
import type { ArticleId } from '../../ids.ts';
import { listedExample } from '../examples.ts';
import type { CatchUp } from './catch-up.ts';
import { listProjectTranslations } from './list.ts';
import { projectTranslationsQuery, projectTranslationsResponse } from './schemas.ts';

/** What has changed in the translations of a project (contract.md T61 to T66). */
export const createProjectTranslationRoutes = (catchUp: CatchUp): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/projects/{projectId}/translations',
      operationId: 'listProjectTranslations',
      summary: 'List the translations of a project',
      description:
        'The translated versions of the project with how they compare with their sources, newest first, page by page. A request counts up to 50 versions whose states are unknown; the others are counted in the background. With `state` a request looks at up to 1,000 versions, so a page can be short or empty while there are more: read on while `nextCursor` is not null.',
      tags: ['Translations'],
      scope: 'project',
      permissions: ['articles.read'],
      query: projectTranslationsQuery,
      responseBytes: COMPARING_BYTES,
      responses: {
        200: {
          description: 'One page.',
          schema: projectTranslationsResponse,
          example: { translations: [{ ...listedExample, state: 'known' }], unknown: 0, nextCursor: null },
        },
      },
    },
    async ({ context, params: { projectId }, query: { limit, cursor, ...filter } }) =>
      ok(
        await listProjectTranslations(
          { ...context, catchUp },
          { ...filter, projectId, limit, position: decodeCursor<ArticleId>(cursor) },
        ),
      ),
  ),
];
