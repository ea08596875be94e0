import { defineRoute, type RouteModule } from '../http/route.ts';
import { pathId } from '../http/scope.ts';
import { ok } from '../http/success.ts';
import type { CategoryId } from '../ids.ts';
import type { RunDependencies } from './await-operation.ts';
import {
  articleSuggestionsResponse,
  projectSuggestionsResponse,
  translateNamesBody,
  translateNamesResponse,
} from './schemas.ts';
import { suggestForArticle, suggestForProject, translateNames } from './suggest.ts';

const PAID = ['INSUFFICIENT_CREDITS', 'QUOTA_EXCEEDED'] as const;

/** The three paid suggestions (contract.md S). Nothing is stored until a client saves it. */
export const createSuggestionRoutes = (runs: RunDependencies): RouteModule[] => [
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/categories/suggest',
      operationId: 'suggestArticleCategories',
      summary: 'Suggest categories for an article',
      description:
        'Up to 7 suggestions: existing categories that the article does not carry yet, new names only if none fits. 1 credit when something comes back.',
      tags: ['Categories'],
      scope: 'article',
      permissions: ['articles.update'],
      responses: {
        200: {
          description: 'The suggestions, and what they cost.',
          schema: articleSuggestionsResponse,
          example: {
            existing: [
              {
                category: { id: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11', name: 'Gardening' },
                reason: 'The article is about planting in spring.',
              },
            ],
            proposed: [],
            credits: 1,
          },
        },
      },
      errors: PAID,
    },
    async ({ context, params }) => ok(await suggestForArticle({ ...context, runs }, params.articleId)),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/projects/{projectId}/categories/suggest',
      operationId: 'suggestProjectCategories',
      summary: 'Suggest new categories for a project',
      description:
        "Up to 7 new names drawn from the project's article titles, target keywords and idea clusters. 1 credit when something comes back.",
      tags: ['Categories'],
      scope: 'project',
      permissions: ['categories.create', 'articles.read'],
      responses: {
        200: {
          description: 'The suggestions, and what they cost.',
          schema: projectSuggestionsResponse,
          example: {
            categories: [{ name: 'Balcony plants', reason: 'Four articles are about balconies.' }],
            credits: 1,
          },
        },
      },
      errors: PAID,
    },
    async ({ context, params }) => ok(await suggestForProject({ ...context, runs }, params.projectId)),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/categories/{categoryId}/translate',
      operationId: 'suggestCategoryNames',
      summary: "Suggest a category's name in other languages",
      description:
        'One name per language, translated from the name in the primary language. Half a credit per language that comes back, rounded up per request.',
      tags: ['Categories'],
      scope: 'workspace',
      permissions: ['categories.update'],
      body: translateNamesBody,
      bodyExample: { languages: ['es', 'de'] },
      responses: {
        200: {
          description: 'The names, and what they cost.',
          schema: translateNamesResponse,
          example: {
            names: [
              { language: 'es', name: 'Jardinería' },
              { language: 'de', name: 'Gärtnern' },
            ],
            credits: 1,
          },
        },
      },
      errors: PAID,
    },
    async ({ context, params, body }) =>
      ok(await translateNames({ ...context, runs }, pathId<CategoryId>(params.categoryId, 'category'), body)),
  ),
];
