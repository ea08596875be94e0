import { KEY_HEADER, keyFrom } from '../../http/key-header.ts';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { pathId } from '../../http/scope.ts';
import { ok } from '../../http/success.ts';
import type { AssetId } from '../../ids.ts';
import type { JobRuns } from '../../jobs/runs.ts';
import { estimateRegeneration, regenerateImage } from './admit.ts';
import { estimateExample, promptExample, regeneratedExample, replayedExample } from './examples.ts';
import {
  estimateQuery,
  regenerateBody,
  regenerateReplayResponse,
  regenerateResponse,
  regenerationEstimateResponse,
} from './schemas.ts';

/** Images that are regenerated in place (contract.md G115 to G124). */
export const createRegenerationRoutes = (runs: JobRuns, canDraw: boolean): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}/assets/{assetId}/regenerate/estimate',
      operationId: 'estimateRegeneration',
      summary: 'Estimate the regeneration of an image',
      description: 'Returns its price. Nothing is reserved or charged.',
      tags: ['Assets'],
      scope: 'article',
      permissions: ['articles.read'],
      query: estimateQuery,
      responses: {
        200: {
          description: 'The price, the wallet, and whether it covers the price.',
          schema: regenerationEstimateResponse,
          example: {
            estimate: estimateExample,
            wallet: { balance: 1000, reserved: 0, available: 1000 },
            sufficient: true,
          },
        },
      },
    },
    async ({ context, params, query }) =>
      ok(
        await estimateRegeneration(context, {
          articleId: params.articleId,
          assetId: pathId<AssetId>(params.assetId, 'asset'),
          quality: query.quality,
        }),
      ),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/assets/{assetId}/regenerate',
      operationId: 'regenerateImage',
      summary: 'Regenerate an image',
      description:
        'Queues a job in which a model draws the image again and its bytes are replaced: id and alternative text stay, `url` changes, and the earlier one goes on serving for a while. The article can be edited, translated, published and deleted meanwhile; when somebody replaces or deletes the image, the job fails and costs nothing. image.regenerated is emitted, and a PUBLISHED article emits article.updated with content when readers see the image. 409 `job_running` while a job works on the article or on this image, `images_unavailable` where no model draws.',
      tags: ['Assets'],
      scope: 'article',
      permissions: ['articles.generate', 'articles.update'],
      body: regenerateBody,
      bodyOptional: true,
      bodyExample: { prompt: promptExample, quality: 'hd', idempotencyKey: 'bed-plan-1' },
      headers: KEY_HEADER,
      responses: {
        202: { description: 'Queued.', schema: regenerateResponse, example: regeneratedExample },
        200: {
          description: 'The key was used before: the original job and its article as they are now.',
          schema: regenerateReplayResponse,
          example: replayedExample,
        },
      },
      errors: ['INSUFFICIENT_CREDITS', 'CONFLICT', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params, body = {}, headers }) => {
      const regenerated = await regenerateImage(
        { ...context, runs, canDraw },
        {
          ...body,
          articleId: params.articleId,
          assetId: pathId<AssetId>(params.assetId, 'asset'),
          idempotencyKey: body.idempotencyKey ?? keyFrom(headers),
        },
      );
      return { status: regenerated.reused ? 200 : 202, body: regenerated };
    },
  ),
];
