import { z } from 'zod';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { pathId } from '../http/scope.ts';
import { streamList } from '../http/stream-list.ts';
import { created, ok } from '../http/success.ts';
import type { CategoryId } from '../ids.ts';
import { assignCategories } from './assign.ts';
import { createCategory } from './create.ts';
import { deleteCategory } from './delete.ts';
import { BEFORE_ALL_CATEGORIES, readCategories } from './queries.ts';
import {
  type Category,
  categorySchema,
  createCategoryBody,
  listedCategorySchema,
  reducedCategorySchema,
  setCategoriesBody,
  updateCategoryBody,
} from './schemas.ts';
import { updateCategory } from './update.ts';

const ids = {
  id: '0b0f1c6e-5a0d-4a52-9c0e-4f6c7d2b9a10',
  workspaceId: '3f6c1f2e-8f0b-4a57-b8b5-0a6f2f5f1f4c',
};
const times = { createdAt: '2026-11-21T07:30:00.000Z', updatedAt: '2026-11-21T07:30:00.000Z' };
const example = {
  ...ids,
  primaryLanguage: 'en',
  ...times,
  translations: [
    {
      id: 'b4f3a0c1-7d0e-4e3c-9a55-6f1d0c7e2b31',
      categoryId: ids.id,
      workspaceId: ids.workspaceId,
      language: 'en',
      name: 'Gardening',
      slug: 'gardening',
      ...times,
    },
  ],
} satisfies Category;
const responseSchema = z.object({ category: categorySchema });

/** List, create, update, delete and assign (contract.md C). */
export const createCategoryRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/categories',
      operationId: 'listCategories',
      summary: 'List categories',
      description:
        'Every category of the workspace, oldest first. If the connection closes early, the list is incomplete.',
      tags: ['Categories'],
      scope: 'workspace',
      permissions: ['categories.read'],
      responses: {
        200: {
          description: 'The categories.',
          schema: z.object({ categories: z.array(listedCategorySchema) }),
          example: { categories: [{ ...example, articleCount: 12 }] },
        },
      },
    },
    async ({ context }) =>
      streamList('categories', BEFORE_ALL_CATEGORIES, (after) => readCategories(context, after)),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/categories',
      operationId: 'createCategory',
      summary: 'Create a category',
      description:
        'Needs a name in the primary language. Names are unique per workspace and language, ignoring case.',
      tags: ['Categories'],
      scope: 'workspace',
      permissions: ['categories.create'],
      body: createCategoryBody,
      bodyExample: { primaryLanguage: 'en', translations: [{ language: 'en', name: 'Gardening' }] },
      responses: {
        201: { description: 'The new category.', schema: responseSchema, example: { category: example } },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, body }) => created({ category: await createCategory(context, body) }),
  ),
  defineRoute(
    {
      method: 'patch',
      path: '/api/workspaces/{workspaceId}/categories/{categoryId}',
      operationId: 'updateCategory',
      summary: 'Change a category',
      description:
        'Adds, renames and removes names and sets the primary language, all at once; at least one of the three ' +
        'fields is needed. Each PUBLISHED article that carries the category emits article.updated when ' +
        'something changed. While very many articles wait for such events a further change is 429.',
      tags: ['Categories'],
      scope: 'workspace',
      permissions: ['categories.update'],
      body: updateCategoryBody,
      bodyExample: { translations: [{ language: 'es', name: 'Jardinería' }], removeLanguages: ['de'] },
      responses: {
        200: {
          description: 'The category as it is now.',
          schema: responseSchema,
          example: { category: example },
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params, body }) =>
      ok({
        category: await updateCategory(context, pathId<CategoryId>(params.categoryId, 'category'), body),
      }),
  ),
  defineRoute(
    {
      method: 'delete',
      path: '/api/workspaces/{workspaceId}/categories/{categoryId}',
      operationId: 'deleteCategory',
      summary: 'Delete a category',
      description:
        'Removes the category, its names and its links for good. Each PUBLISHED article that carried it emits ' +
        'article.updated. While very many articles wait for such events it is 429.',
      tags: ['Categories'],
      scope: 'workspace',
      permissions: ['categories.delete'],
      responses: {
        200: {
          description: 'Deleted; articleCount articles carried it.',
          schema: z.object({ ok: z.literal(true), articleCount: z.int().min(0) }),
          example: { ok: true, articleCount: 12 },
        },
      },
    },
    async ({ context, params }) => {
      const { articleCount } = await deleteCategory(
        context,
        pathId<CategoryId>(params.categoryId, 'category'),
      );
      return ok({ ok: true, articleCount });
    },
  ),
  defineRoute(
    {
      method: 'put',
      path: '/api/articles/{articleId}/categories',
      operationId: 'assignCategories',
      summary: "Set an article's categories",
      description:
        'The list replaces the whole set and gives its order. A PUBLISHED article emits article.updated when the ' +
        'set changed; a new order of the same set is stored and emits nothing.',
      tags: ['Categories'],
      scope: 'article',
      permissions: ['articles.update'],
      body: setCategoriesBody,
      bodyExample: { categoryIds: [] },
      responses: {
        200: {
          description: 'The categories in the order assigned.',
          schema: z.object({ categories: z.array(reducedCategorySchema) }),
          example: {
            categories: [
              {
                id: ids.id,
                primaryLanguage: 'en',
                translations: [{ language: 'en', name: 'Gardening', slug: 'gardening' }],
              },
            ],
          },
        },
      },
    },
    async ({ context, params, body }) =>
      ok({ categories: await assignCategories(context, { articleId: params.articleId, ...body }) }),
  ),
];
