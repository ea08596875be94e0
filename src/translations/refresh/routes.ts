import { articleResponse, respondWithArticle } from '../../articles/responses.ts';
import { ARTICLE_BODY_BYTES } from '../../document/format/limits.ts';
import { MAX_IF_MATCH } from '../../http/etag.ts';
import { KEY_HEADER, keyFrom } from '../../http/key-header.ts';
import { LIST_BYTES } from '../../http/limits.ts';
import { decodeCursor } from '../../http/paging.ts';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { pathId } from '../../http/scope.ts';
import { DONE, doneResponses, ok } from '../../http/success.ts';
import type { ProposalId } from '../../ids.ts';
import type { JobRuns } from '../../jobs/runs.ts';
import { createRefresh, estimateRefresh } from './create.ts';
import { decideOne, decideProposals } from './decide.ts';
import {
  estimateExample,
  proposalExample,
  refreshedExample,
  replayedExample,
  stateExample,
} from './examples.ts';
import { decodePlace, listProposals, readTranslationState, type Tagged } from './list.ts';
import { markCurrent } from './mark-current.ts';
import {
  decideBody,
  markBody,
  markedResponse,
  proposalsResponse,
  refreshBody,
  refreshEstimateBody,
  refreshEstimateResponse,
  refreshReplayResponse,
  refreshResponse,
  statePage,
  translationStateResponse,
} from './schemas.ts';

const ESTIMATED = {
  200: {
    description: 'What has changed, the price, the wallet, and whether it covers the price.',
    schema: refreshEstimateResponse,
    example: {
      estimate: estimateExample,
      wallet: { balance: 1000, reserved: 0, available: 1000 },
      sufficient: true,
    },
  },
};

const STATE_TAG = {
  ETag: "The tag of both sides' content and of the open proposals, for If-Match of a decision.",
};

const IF_STATE_MATCHES = {
  'If-Match': {
    description: 'The ETag of the translation state or of the proposals that the decision is about.',
    required: true,
    maxLength: MAX_IF_MATCH,
  },
};

const respondTagged = ({ page, tag }: Tagged<unknown>) => ({
  status: 200 as const,
  body: page,
  headers: { ETag: tag },
});

/** Refreshes of versions, and decisions about what they propose (contract.md T29 to T38 and T46 to T52). */
export const createRefreshRoutes = (runs: JobRuns): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}/refresh/estimate',
      operationId: 'estimateRefresh',
      summary: 'Estimate a refresh',
      description:
        'Returns what has changed in the source since this version was last translated, and the price of a refresh. Nothing is reserved or charged.',
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.update', 'articles.generate'],
      responses: ESTIMATED,
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => ok(await estimateRefresh(context, params)),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/refresh/estimate',
      operationId: 'estimateRefreshOf',
      summary: 'Estimate a refresh of some units',
      description: 'The same for the refresh that this body would request. Nothing is reserved or charged.',
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.update', 'articles.generate'],
      body: refreshEstimateBody,
      bodyBytes: 1_048_576,
      bodyExample: { units: ['title'] },
      responses: ESTIMATED,
      errors: ['CONFLICT'],
    },
    async ({ context, params: { articleId }, body }) =>
      ok(await estimateRefresh(context, { articleId, ...body })),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/refresh',
      operationId: 'refreshTranslation',
      summary: 'Refresh a translation',
      description:
        'Translates what has changed in the source since this version was last translated, and writes it where no person has edited the version; the rest becomes proposals. The article can be edited, published and deleted meanwhile. `untouched` on a version that is APPROVED or PUBLISHED needs articles.publish, too.',
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.update', 'articles.generate'],
      body: refreshBody,
      bodyOptional: true,
      bodyBytes: 1_048_576,
      bodyExample: { apply: 'untouched', idempotencyKey: 'spring-guide-es-2' },
      headers: KEY_HEADER,
      responses: {
        202: { description: 'Queued.', schema: refreshResponse, example: refreshedExample },
        200: {
          description: 'The key was used before: the original job as it is now.',
          schema: refreshReplayResponse,
          example: replayedExample,
        },
      },
      errors: ['INSUFFICIENT_CREDITS', 'CONFLICT', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params, body = {}, headers }) => {
      const created = await createRefresh(
        { ...context, runs },
        { ...body, articleId: params.articleId, idempotencyKey: body.idempotencyKey ?? keyFrom(headers) },
      );
      return { status: created.reused ? 200 : 202, body: created };
    },
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}/translation-state',
      operationId: 'readTranslationState',
      summary: 'Read the state of each unit of a version',
      description:
        'How each field, block and image compares with the source as both are now, the author of its current content, and its open proposal, page by page. The ETag is for decisions: it changes with the content of either side and with every proposal.',
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.read'],
      query: statePage,
      responseBytes: LIST_BYTES,
      responses: {
        200: {
          description: 'One page.',
          schema: translationStateResponse,
          example: stateExample,
          headers: STATE_TAG,
        },
      },
    },
    async ({ context, params, query: { limit, cursor } }) =>
      respondTagged(
        await readTranslationState(context, params.articleId, { limit, from: decodePlace(cursor) }),
      ),
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}/proposals',
      operationId: 'listProposals',
      summary: 'List the proposals of a version',
      description:
        'Open proposals of refreshes, each with the old and the new source, what stands in the version and what is proposed, page by page. The ETag is for decisions: it changes with the content of either side and with every proposal.',
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.read'],
      query: statePage,
      responseBytes: 4 * ARTICLE_BODY_BYTES,
      responses: {
        200: {
          description: 'One page.',
          schema: proposalsResponse,
          example: { proposals: [proposalExample], nextCursor: null },
          headers: STATE_TAG,
        },
      },
    },
    async ({ context, params, query: { limit, cursor } }) =>
      respondTagged(
        await listProposals(context, params.articleId, { limit, position: decodeCursor<ProposalId>(cursor) }),
      ),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/proposals/decide',
      operationId: 'decideProposals',
      summary: 'Accept and reject proposals',
      description:
        'Decides about up to 1,000 named proposals, or all, in one save with one revision. If-Match is required: 412 when either side or a proposal has changed since. 404 when one is not open. When one cannot be accepted nothing is decided: 409 `not_applicable` names it.',
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.update'],
      body: decideBody,
      bodyBytes: 131_072,
      bodyExample: { accept: 'all' },
      headers: IF_STATE_MATCHES,
      responses: { 200: articleResponse('The article.', { primaryLanguage: 'es' }) },
      errors: ['CONFLICT', 'PRECONDITION_FAILED', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params: { articleId }, body, headers }) =>
      respondWithArticle(
        await decideProposals(context, { articleId, ...body }, headers.get('if-match') ?? undefined),
      ),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/mark-current',
      operationId: 'markCurrent',
      summary: 'Mark units of a version as up to date',
      description:
        "What stands there becomes a person's translation of the present source; nothing is charged, the article stays as it is, and the open proposals of these units go. A unit that the version does not have stays out, and one that the source does not have becomes the version's own. `pairs` says which unit of the source belongs to which of the version, in place of `units`. If-Match is required: 412 when either side or a proposal has changed since.",
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.update'],
      body: markBody,
      bodyBytes: 262_144,
      bodyExample: { units: ['title'] },
      headers: IF_STATE_MATCHES,
      responses: { 200: { description: 'Marked.', schema: markedResponse, example: { marked: 1 } } },
      errors: ['CONFLICT', 'PRECONDITION_FAILED', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params: { articleId }, body, headers }) =>
      ok({
        marked: await markCurrent(context, { articleId, ...body }, headers.get('if-match') ?? undefined),
      }),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/proposals/{proposalId}/accept',
      operationId: 'acceptProposal',
      summary: 'Accept a proposal',
      description:
        'Writes it into the article: a save like any other. 409 `not_applicable` when what it would change has changed since, 404 once it was accepted, rejected or replaced by a later refresh.',
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.update'],
      responses: { 200: articleResponse('The article.', { primaryLanguage: 'es' }) },
      errors: ['CONFLICT', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params: { articleId, proposalId } }) =>
      respondWithArticle(
        await decideOne(context, articleId, { accept: [pathId<ProposalId>(proposalId, 'proposal')] }),
      ),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/proposals/{proposalId}/reject',
      operationId: 'rejectProposal',
      summary: 'Reject a proposal',
      description:
        'The article stays as it is, and counts as up to date with the source that the proposal was made from.',
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.update'],
      responses: doneResponses('Rejected.'),
      errors: ['CONFLICT', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params: { articleId, proposalId } }) => {
      await decideOne(context, articleId, { reject: [pathId<ProposalId>(proposalId, 'proposal')] });
      return DONE;
    },
  ),
];
