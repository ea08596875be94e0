import { z } from 'zod';
import { IMAGE_MEDIA_TYPES, MAX_IMAGE_BYTES } from '../blobs/asset.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { pathId } from '../http/scope.ts';
import { streamList } from '../http/stream-list.ts';
import { created, DONE, doneResponses, ok } from '../http/success.ts';
import type { AssetId } from '../ids.ts';
import type { MediaProcessor } from '../media/media.ts';
import { deleteAsset, updateAsset } from './change.ts';
import type { FetchImage } from './fetch-image.ts';
import { fetchHero, uploadHero } from './hero.ts';
import { BEFORE_ALL_ASSETS, readAsset, readAssetsAfter } from './read.ts';
import { type Asset, assetSchema, heroFromUrlBody, updateAssetBody, uploadQuery } from './schemas.ts';
import { uploadAsset } from './upload.ts';

const example: Asset = {
  id: 'c4e8a1d7-5b32-4f09-9e6a-7d1f3b8c2e50',
  articleId: '0b8f6a52-1f0e-4d7a-9c55-6a2f1e7d3c90',
  workspaceId: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11',
  role: 'inline',
  mediaType: 'image/png',
  byteSize: 48_213,
  fileName: 'bed-plan.png',
  altText: 'Plan of the vegetable bed',
  url: '/assets/c4e8a1d7-5b32-4f09-9e6a-7d1f3b8c2e50/9f86d081884c7d65',
  width: 1_600,
  height: 900,
  previewUrl: '/assets/c4e8a1d7-5b32-4f09-9e6a-7d1f3b8c2e50/2c26b46b68ffc68f',
  thumbnailUrl: '/assets/c4e8a1d7-5b32-4f09-9e6a-7d1f3b8c2e50/fcde2b2edba56bf4',
  prompt: null,
  createdAt: '2026-11-21T07:30:00.000Z',
};
const hero: Asset = { ...example, role: 'hero' };
const responseSchema = z.object({ asset: assetSchema });
const upload = { mediaTypes: IMAGE_MEDIA_TYPES, maxBytes: MAX_IMAGE_BYTES };
const HERO_EVENTS =
  'An existing cover is replaced, its bytes no longer count toward the storage quota, and image.regenerated is emitted. A PUBLISHED article emits article.updated with content.';

/** The images of articles. */
export const createAssetRoutes = ({
  blobs,
  media,
  fetchImage,
}: {
  blobs: BlobStore;
  media: MediaProcessor;
  fetchImage: FetchImage;
}): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}/assets',
      operationId: 'listAssets',
      summary: 'List the images of an article',
      description:
        'The cover and the images of the body, oldest first. If the connection closes early, the list is incomplete.',
      tags: ['Assets'],
      scope: 'article',
      permissions: ['articles.read'],
      responses: {
        200: {
          description: 'The images.',
          schema: z.object({ assets: z.array(assetSchema) }),
          example: { assets: [example] },
        },
      },
    },
    async ({ context, params }) =>
      streamList('assets', BEFORE_ALL_ASSETS, (after) => readAssetsAfter(context, params.articleId, after)),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/assets',
      operationId: 'uploadAsset',
      summary: 'Upload an image for the body',
      description:
        'The request body is the file itself, at most 20 MiB and 40 million pixels. Its metadata is removed, its format and pixels stay; it is re-encoded if it has to be rotated, reduced to 4,096 pixels a side or converted to sRGB. An image block of the article refers to it by id. It counts toward the storage quota. 409 while a job works on the article, and `image_limit` for one that has 1,000.',
      tags: ['Assets'],
      scope: 'article',
      permissions: ['articles.update'],
      query: uploadQuery,
      upload,
      responses: { 201: { description: 'The image.', schema: responseSchema, example: { asset: example } } },
      errors: ['CONFLICT', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params, query, bytes }) =>
      created({
        asset: await uploadAsset(
          { ...context, blobs, media },
          { articleId: params.articleId, bytes, ...query },
        ),
      }),
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}/assets/{assetId}',
      operationId: 'readAsset',
      summary: 'Read an image',
      description: 'Its `url` serves the bytes without a key.',
      tags: ['Assets'],
      scope: 'article',
      permissions: ['articles.read'],
      responses: { 200: { description: 'The image.', schema: responseSchema, example: { asset: example } } },
    },
    async ({ context, params }) =>
      ok({ asset: await readAsset(context, params.articleId, pathId<AssetId>(params.assetId, 'asset')) }),
  ),
  defineRoute(
    {
      method: 'patch',
      path: '/api/articles/{articleId}/assets/{assetId}',
      operationId: 'updateAsset',
      summary: "Change an image's alternative text",
      description:
        'The article shows it from then on; a PUBLISHED one emits article.updated with content when readers see the change. 409 while a job works on the article.',
      tags: ['Assets'],
      scope: 'article',
      permissions: ['articles.update'],
      body: updateAssetBody,
      bodyExample: { altText: 'Plan of the vegetable bed' },
      responses: { 200: { description: 'The image.', schema: responseSchema, example: { asset: example } } },
      errors: ['CONFLICT'],
    },
    async ({ context, params, body }) =>
      ok({
        asset: await updateAsset(context, {
          articleId: params.articleId,
          assetId: pathId<AssetId>(params.assetId, 'asset'),
          altText: body.altText,
        }),
      }),
  ),
  defineRoute(
    {
      method: 'delete',
      path: '/api/articles/{articleId}/assets/{assetId}',
      operationId: 'deleteAsset',
      summary: 'Delete an image',
      description:
        'Its bytes no longer count toward the storage quota, and blocks that show it render as nothing; a PUBLISHED article emits article.updated with content when readers see the change. 409 while a job works on the article.',
      tags: ['Assets'],
      scope: 'article',
      permissions: ['articles.update'],
      responses: doneResponses('Deleted.'),
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => {
      await deleteAsset(context, {
        articleId: params.articleId,
        assetId: pathId<AssetId>(params.assetId, 'asset'),
      });
      return DONE;
    },
  ),
  defineRoute(
    {
      method: 'put',
      path: '/api/articles/{articleId}/hero',
      operationId: 'uploadHero',
      summary: 'Upload the cover of an article',
      description: `The request body is the file itself, processed as an image for the body is. ${HERO_EVENTS} 409 while a job works on the article.`,
      tags: ['Assets'],
      scope: 'article',
      permissions: ['articles.update'],
      query: uploadQuery,
      upload,
      responses: { 201: { description: 'The cover.', schema: responseSchema, example: { asset: hero } } },
      errors: ['CONFLICT', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params, query, bytes }) =>
      created({
        asset: await uploadHero(
          { ...context, blobs, media },
          { articleId: params.articleId, bytes, ...query },
        ),
      }),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/hero/from-url',
      operationId: 'fetchHero',
      summary: 'Fetch the cover of an article from a URL',
      description: `The image is fetched once, within 15 seconds, processed as an upload, and stored. Only public addresses are contacted, and at most three redirects are followed. A workspace fetches four at once; more wait two seconds, then get 429. ${HERO_EVENTS} 409 while a job works on the article.`,
      tags: ['Assets'],
      scope: 'article',
      permissions: ['articles.update'],
      body: heroFromUrlBody,
      bodyExample: { url: 'https://images.example.com/garden.jpg', altText: 'A garden in spring' },
      responses: { 201: { description: 'The cover.', schema: responseSchema, example: { asset: hero } } },
      errors: ['CONFLICT', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params, body }) =>
      created({
        asset: await fetchHero(
          { ...context, blobs, media, fetchImage },
          { articleId: params.articleId, url: body.url, altText: body.altText },
        ),
      }),
  ),
];
