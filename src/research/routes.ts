import { z } from 'zod';
import { ARTICLE_BODY_BYTES } from '../document/format/limits.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { ok } from '../http/success.ts';
import { listClaims, listSources } from './list.ts';
import { type Claim, claimSchema, type Source, sourceSchema } from './schemas.ts';

const source: Source = {
  id: '0b7e5a52-1f0c-4c8e-9c1d-6a2f4be3d790',
  url: 'https://garden.example/watering-tomatoes',
  title: 'How much water tomatoes need',
  site: 'The Kitchen Plot',
  publishedAt: '2026-05-12T08:00:00.000Z',
  fetchedAt: '2026-11-21T07:30:00.000Z',
  notes: [
    {
      id: '5d1c0e8e-92b4-4f57-8f0e-3f2f8f6f7c11',
      quote: 'A tomato plant in open ground needs about 20 litres of water a week in high summer',
    },
  ],
};

const claim: Claim = {
  id: 'c3f1a7d4-55aa-4be0-8c8c-0d9b7e2c4a10',
  blockId: 'b7',
  sentence: 'In July a tomato plant needs 20 litres of water a week.',
  verdict: 'supported',
  changed: false,
  sourceId: source.id,
  passage:
    'A tomato plant in open ground needs about 20 litres of water a week in high summer, and half of that while it is still short.',
};

/** What articles were researched from and checked against. */
export const createResearchRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}/sources',
      operationId: 'listSources',
      summary: 'List the sources of an article',
      description:
        'The pages that its generation read, in the order in which they were read, each with the quotes that the writer was given. Empty for an article without research.',
      tags: ['Research'],
      scope: 'article',
      permissions: ['articles.read'],
      responses: {
        200: {
          description: 'All sources.',
          schema: z.object({ sources: z.array(sourceSchema) }),
          example: { sources: [source] },
        },
      },
    },
    async ({ context, params }) => ok(await listSources(context, params.articleId)),
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}/claims',
      operationId: 'listClaims',
      summary: 'List the checked claims of an article',
      description:
        'Sentences that fact checking compared with passages of sources, in the order of the text. Empty for an article without fact checking.',
      tags: ['Research'],
      scope: 'article',
      permissions: ['articles.read'],
      // The blocks of its claims are read for it.
      responseBytes: 2 * ARTICLE_BODY_BYTES,
      responses: {
        200: {
          description: 'All claims.',
          schema: z.object({ claims: z.array(claimSchema) }),
          example: { claims: [claim] },
        },
      },
    },
    async ({ context, params }) => ok(await listClaims(context, params.articleId)),
  ),
];
