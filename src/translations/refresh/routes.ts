import { articleResponse, respondWithArticle } from '../../articles/responses.ts';
import { KEY_HEADER, keyFrom } from '../../http/key-header.ts';
import { defineListOfArticle } from '../../http/list-of-article.ts';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { pathId } from '../../http/scope.ts';
import { DONE, doneResponses, ok } from '../../http/success.ts';
import type { ProposalId } from '../../ids.ts';
import type { JobRuns } from '../../jobs/runs.ts';
import { createRefresh, estimateRefresh } from './create.ts';
import { estimateExample, proposalExample, refreshedExample, replayedExample } from './examples.ts';
import { acceptProposal, listProposals, rejectProposal } from './proposals.ts';
import {
  proposalsResponse,
  refreshBody,
  refreshEstimateResponse,
  refreshReplayResponse,
  refreshResponse,
} from './schemas.ts';

/** Refreshes of versions, and decisions about their proposals (contract.md T29 to T38). */
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
      responses: {
        200: {
          description: 'What has changed, the price, the wallet, and whether it covers the price.',
          schema: refreshEstimateResponse,
          example: {
            estimate: estimateExample,
            wallet: { balance: 1000, reserved: 0, available: 1000 },
            sufficient: true,
          },
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => ok(await estimateRefresh(context, params)),
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
  defineListOfArticle({
    name: 'proposals',
    operationId: 'listProposals',
    summary: 'List the proposals of a version',
    description: 'Open proposals of refreshes, page by page.',
    tags: ['Translations'],
    schema: proposalsResponse,
    example: { proposals: [proposalExample], nextCursor: null },
    list: listProposals,
  }),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/proposals/{proposalId}/accept',
      operationId: 'acceptProposal',
      summary: 'Accept a proposal',
      description:
        'Writes it into the article: a save like any other. 412 when what it would change has changed since, 404 once it was accepted, rejected or replaced by a later refresh.',
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.update'],
      responses: { 200: articleResponse('The article.', { primaryLanguage: 'es' }) },
      errors: ['CONFLICT', 'PRECONDITION_FAILED', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params }) =>
      respondWithArticle(
        await acceptProposal(context, {
          articleId: params.articleId,
          proposalId: pathId<ProposalId>(params.proposalId, 'proposal'),
        }),
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
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => {
      await rejectProposal(context, {
        articleId: params.articleId,
        proposalId: pathId<ProposalId>(params.proposalId, 'proposal'),
      });
      return DONE;
    },
  ),
];
