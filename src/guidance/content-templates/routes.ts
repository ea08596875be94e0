import { z } from 'zod';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { pathId } from '../../http/scope.ts';
import { created, DONE, doneResponses, ok } from '../../http/success.ts';
import type { ContentTemplateId } from '../../ids.ts';
import { createPreset } from '../presets/create.ts';
import { deletePreset } from '../presets/delete.ts';
import { listPresets, readPreset } from '../presets/queries.ts';
import { updatePreset } from '../presets/update.ts';
import { TEMPLATES } from './kind.ts';
import {
  type ContentTemplate,
  contentTemplateSchema,
  contentTemplateSummarySchema,
  createContentTemplateBody,
  updateContentTemplateBody,
} from './schemas.ts';

const summaryExample = {
  id: '4e8a1b7c-0f35-4d69-a2c4-6b9d8e7f1a52',
  name: 'Plant portrait',
  builtIn: false,
  createdAt: '2026-11-21T07:30:00.000Z',
  updatedAt: '2026-11-21T07:30:00.000Z',
};
const text =
  'Open with where the plant is met. One section each: looks through the year, place and soil, care month by month, neighbours. Close with what to do this week.';
const example: ContentTemplate = { ...summaryExample, text };
const builtInExample = {
  id: '170f417c-909d-4b82-a4de-e01cec8a494d',
  name: 'How-to guide',
  builtIn: true,
  createdAt: null,
  updatedAt: null,
};
const response = z.object({ contentTemplate: contentTemplateSchema });
const idOf = ({ contentTemplateId }: { readonly contentTemplateId: string }): ContentTemplateId =>
  pathId(contentTemplateId, 'content template');

/** Templates that generated articles are built by (contract.md G54 and G55). */
export const createContentTemplateRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/content-templates',
      operationId: 'listContentTemplates',
      summary: 'List content templates',
      description: 'The built-in templates, then those of the workspace by name, without their texts.',
      tags: ['Generation'],
      scope: 'workspace',
      permissions: ['articles.read'],
      responses: {
        200: {
          description: 'The templates.',
          schema: z.object({ contentTemplates: z.array(contentTemplateSummarySchema) }),
          example: { contentTemplates: [builtInExample, summaryExample] },
        },
      },
    },
    async ({ context }) => ok({ contentTemplates: await listPresets(context, TEMPLATES) }),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/content-templates',
      operationId: 'createContentTemplate',
      summary: 'Create a content template',
      description:
        'How generated articles of one kind are built. A workspace has at most 100 beside the built-in ones (409 `content_template_limit`).',
      tags: ['Generation'],
      scope: 'workspace',
      permissions: ['generation.configure'],
      body: createContentTemplateBody,
      bodyExample: { name: example.name, text },
      responses: {
        201: { description: 'The new template.', schema: response, example: { contentTemplate: example } },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, body }) => created({ contentTemplate: await createPreset(context, TEMPLATES, body) }),
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/content-templates/{contentTemplateId}',
      operationId: 'readContentTemplate',
      summary: 'Read a content template',
      tags: ['Generation'],
      scope: 'workspace',
      permissions: ['articles.read'],
      responses: {
        200: { description: 'The template.', schema: response, example: { contentTemplate: example } },
      },
    },
    async ({ context, params }) =>
      ok({ contentTemplate: await readPreset(context, TEMPLATES, idOf(params)) }),
  ),
  defineRoute(
    {
      method: 'patch',
      path: '/api/workspaces/{workspaceId}/content-templates/{contentTemplateId}',
      operationId: 'updateContentTemplate',
      summary: 'Change a content template',
      description:
        'Changes only the fields you send. Built-in ones cannot be changed (409 `built_in_template`).',
      tags: ['Generation'],
      scope: 'workspace',
      permissions: ['generation.configure'],
      body: updateContentTemplateBody,
      bodyExample: { name: 'Plant portrait, short' },
      responses: {
        200: {
          description: 'The template as it is now.',
          schema: response,
          example: { contentTemplate: { ...example, name: 'Plant portrait, short' } },
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params, body }) =>
      ok({ contentTemplate: await updatePreset(context, TEMPLATES, idOf(params), body) }),
  ),
  defineRoute(
    {
      method: 'delete',
      path: '/api/workspaces/{workspaceId}/content-templates/{contentTemplateId}',
      operationId: 'deleteContentTemplate',
      summary: 'Delete a content template',
      description:
        'A generation that names it is written without a template. Built-in ones cannot be deleted (409 `built_in_template`).',
      tags: ['Generation'],
      scope: 'workspace',
      permissions: ['generation.configure'],
      responses: doneResponses('Deleted.'),
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => {
      await deletePreset(context, TEMPLATES, idOf(params));
      return DONE;
    },
  ),
];
