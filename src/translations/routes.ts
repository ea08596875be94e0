import { KEY_HEADER, keyFrom } from '../http/key-header.ts';
import { COMPARING_BYTES } from '../http/limits.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { streamList } from '../http/stream-list.ts';
import { ok } from '../http/success.ts';
import type { JobRuns } from '../jobs/runs.ts';
import { createTranslation } from './create.ts';
import { estimateTranslation } from './estimate.ts';
import { createdExample, listedExample, replayExample } from './examples.ts';
import { readTranslations } from './list.ts';
import {
  createBody,
  createResponse,
  estimateQuery,
  estimateResponse,
  listResponse,
  replayResponse,
} from './schemas.ts';

/** Listing, estimating and creating translations (contract.md T). */
export const createTranslationRoutes = (runs: JobRuns): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}/translations',
      operationId: 'listTranslations',
      responseBytes: COMPARING_BYTES,
      summary: 'List the translations of an article',
      description:
        "Every language version of the article's translation group, itself included, sorted by language tag: the latest job that writes it, and how it compares with the source it was translated from.",
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.read'],
      responses: {
        200: {
          description: 'The versions.',
          schema: listResponse,
          example: { translations: [listedExample] },
        },
      },
    },
    async ({ context, params }) =>
      streamList('translations', '', (after) => readTranslations(context, params.articleId, after)),
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}/translations/estimate',
      operationId: 'estimateTranslation',
      summary: 'Estimate a translation',
      description: 'Returns the price of a translation. Nothing is reserved or charged.',
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.read'],
      query: estimateQuery,
      responses: {
        200: {
          description: 'The price, the wallet, and whether it covers the price.',
          schema: estimateResponse,
          example: {
            estimate: { words: 1612, total: 2 },
            wallet: { balance: 1000, reserved: 0, available: 1000 },
            sufficient: true,
          },
        },
      },
    },
    async ({ context, params, query }) =>
      ok(await estimateTranslation(context, { articleId: params.articleId, language: query.language })),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/translations',
      operationId: 'createTranslation',
      summary: 'Translate an article',
      description:
        "Creates the draft version in the target language inside the source's translation group, reserves the credits, and queues the job that fills it.",
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.create', 'articles.generate'],
      body: createBody,
      bodyExample: { language: 'es', idempotencyKey: 'spring-guide-es-1' },
      headers: KEY_HEADER,
      responses: {
        202: { description: 'Queued.', schema: createResponse, example: createdExample },
        200: {
          description: 'The key was used before: the original job and its article as they are now.',
          schema: replayResponse,
          example: replayExample,
        },
      },
      errors: ['INSUFFICIENT_CREDITS', 'CONFLICT', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params, body, headers }) => {
      const created = await createTranslation(
        { ...context, runs },
        {
          articleId: params.articleId,
          language: body.language,
          idempotencyKey: body.idempotencyKey ?? keyFrom(headers),
        },
      );
      return created.reused ? { status: 200, body: created } : { status: 202, body: created };
    },
  ),
];
