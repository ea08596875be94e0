import { IF_MATCH } from '../articles/responses.ts';
import { KEY_HEADER, keyFrom } from '../http/key-header.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { ok } from '../http/success.ts';
import type { JobRuns } from '../jobs/runs.ts';
import type { Generated } from './admit.ts';
import { generateArticle, generateDraft } from './create.ts';
import { estimateGeneration } from './estimate.ts';
import {
  approvedExample,
  configExample,
  estimateExample,
  generatedExample,
  outlineExample,
  replayedApprovalExample,
  replayedExample,
} from './examples.ts';
import { approveOutline, readOutline, type StoredOutline, saveOutline } from './outlines.ts';
import type { GenerationFeatures } from './price.ts';
import {
  approveBody,
  estimateBody,
  estimateResponse,
  generateArticleBody,
  generateDraftBody,
  generateResponse,
  outlineBody,
  outlineResponse,
  replayResponse,
} from './schemas.ts';

/** Bound on an outline: forty sections at their maximum lengths. */
const OUTLINE_BYTES = 1_048_576;

const queuedResponses = (queued: unknown, replayed: unknown) => ({
  202: { description: 'Queued.', schema: generateResponse, example: queued },
  200: {
    description: 'The key was used before: the original job and its article as they are now.',
    schema: replayResponse,
    example: replayed,
  },
});

const respondQueued = (generated: Generated) => ({
  status: generated.reused ? (200 as const) : (202 as const),
  body: generated,
});

const outlineResponses = (description: string) => ({
  200: {
    description,
    schema: outlineResponse,
    example: { outline: outlineExample, edited: false },
    headers: { ETag: "The tag of the outline and the article's generationConfig, for If-Match." },
  },
});

const respondWithOutline = ({ shown, tag }: StoredOutline) => ({
  status: 200 as const,
  body: shown,
  headers: { ETag: tag },
});

/** Generations, and outlines that people review first (contract.md G1 to G25). */
export const createGenerationRoutes = (runs: JobRuns, features: GenerationFeatures): RouteModule[] => [
  defineRoute(
    {
      method: 'post',
      path: '/api/projects/{projectId}/generation/estimate',
      operationId: 'estimateGeneration',
      summary: 'Estimate a generation',
      description:
        'Returns the price of an article: `estimate` for the run that these settings start, `whole` for all runs up to the article. Nothing is reserved or charged.',
      tags: ['Generation'],
      scope: 'project',
      permissions: ['articles.read'],
      body: estimateBody,
      bodyExample: { generationConfig: configExample },
      responses: {
        200: {
          description: 'The price, the wallet, and whether it covers the price.',
          schema: estimateResponse,
          example: estimateExample,
        },
      },
    },
    async ({ context, body }) => ok(await estimateGeneration(context, body.generationConfig, features)),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/projects/{projectId}/articles/generate',
      operationId: 'generateArticle',
      summary: 'Generate an article',
      description:
        'Makes an article from a topic: reserves the credits and queues the job that writes it. With reviewOutline the run stops after the outline, which can then be read, edited and approved. A request without an idempotency key makes another article each time. `warnings` says when the text will be in another language than the article.',
      tags: ['Generation'],
      scope: 'project',
      permissions: ['articles.create', 'articles.generate'],
      body: generateArticleBody,
      bodyExample: { generationConfig: configExample, idempotencyKey: 'spring-guide-1' },
      headers: KEY_HEADER,
      responses: queuedResponses(generatedExample, replayedExample),
      errors: ['INSUFFICIENT_CREDITS', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params, body, headers }) =>
      respondQueued(
        await generateArticle(
          { ...context, runs, features },
          {
            ...body,
            projectId: params.projectId,
            idempotencyKey: body.idempotencyKey ?? keyFrom(headers),
          },
        ),
      ),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/generate',
      operationId: 'generateDraft',
      summary: 'Generate a draft',
      description:
        'The same for a draft that has no content. An article with content is never overwritten: 409 `has_content`. An outline that was edited after it was made is replaced only with replaceOutline: otherwise 409 `outline_edited`.',
      tags: ['Generation'],
      scope: 'article',
      permissions: ['articles.generate'],
      body: generateDraftBody,
      bodyOptional: true,
      bodyExample: { generationConfig: configExample, idempotencyKey: 'spring-guide-1' },
      headers: KEY_HEADER,
      responses: queuedResponses(generatedExample, replayedExample),
      errors: ['CONFLICT', 'INSUFFICIENT_CREDITS', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params, body = { replaceOutline: false, fresh: false }, headers }) =>
      respondQueued(
        await generateDraft(
          { ...context, runs, features },
          {
            ...body,
            articleId: params.articleId,
            idempotencyKey: body.idempotencyKey ?? keyFrom(headers),
          },
        ),
      ),
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}/outline',
      operationId: 'readOutline',
      summary: 'Read the outline of an article',
      description:
        'The outline that the article was, or will be, generated from. 404 for an article that was not generated.',
      tags: ['Generation'],
      scope: 'article',
      permissions: ['articles.read'],
      responses: outlineResponses('The outline.'),
    },
    async ({ context, params }) => respondWithOutline(await readOutline(context, params.articleId)),
  ),
  defineRoute(
    {
      method: 'put',
      path: '/api/articles/{articleId}/outline',
      operationId: 'saveOutline',
      summary: 'Change the outline of an article',
      description:
        'Replaces the outline of a draft that is not written yet. Words of the sections are shares: they are scaled to the wordCount of the settings. An outline has at least one section per started 2,000 words, and at most one per 60.',
      tags: ['Generation'],
      scope: 'article',
      permissions: ['articles.update'],
      body: outlineBody,
      bodyBytes: OUTLINE_BYTES,
      bodyExample: { outline: outlineExample },
      headers: IF_MATCH,
      responses: outlineResponses('The outline as it is now.'),
      errors: ['CONFLICT', 'PRECONDITION_FAILED'],
    },
    async ({ context, params, body, headers }) =>
      respondWithOutline(
        await saveOutline(context, params.articleId, body.outline, headers.get('if-match') ?? undefined),
      ),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/outline/approve',
      operationId: 'approveOutline',
      summary: 'Approve the outline of an article',
      description:
        "Queues the run that writes the article from its outline, with the article's generationConfig. If-Match is required: what is written is what you have read and approved. 412 when the outline or the settings have changed since.",
      tags: ['Generation'],
      scope: 'article',
      permissions: ['articles.generate'],
      body: approveBody,
      bodyOptional: true,
      bodyExample: { idempotencyKey: 'spring-guide-2' },
      headers: {
        ...KEY_HEADER,
        'If-Match': {
          ...IF_MATCH['If-Match'],
          description: 'The ETag of the outline that you have read.',
          required: true,
        },
      },
      responses: queuedResponses(approvedExample, replayedApprovalExample),
      errors: ['CONFLICT', 'PRECONDITION_FAILED', 'INSUFFICIENT_CREDITS', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params, body, headers }) =>
      respondQueued(
        await approveOutline(
          { ...context, runs, features },
          {
            articleId: params.articleId,
            ifMatch: headers.get('if-match') ?? undefined,
            fresh: body?.fresh ?? false,
            idempotencyKey: body?.idempotencyKey ?? keyFrom(headers),
          },
        ),
      ),
  ),
];
