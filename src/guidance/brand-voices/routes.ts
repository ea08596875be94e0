import { z } from 'zod';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { pathId } from '../../http/scope.ts';
import { created, DONE, doneResponses, ok } from '../../http/success.ts';
import type { BrandVoiceId } from '../../ids.ts';
import { createPreset } from '../presets/create.ts';
import { deletePreset } from '../presets/delete.ts';
import { listPresets, readPreset } from '../presets/queries.ts';
import { updatePreset } from '../presets/update.ts';
import { VOICES } from './kind.ts';
import {
  type BrandVoice,
  brandVoiceSchema,
  brandVoiceSummarySchema,
  createBrandVoiceBody,
  updateBrandVoiceBody,
} from './schemas.ts';

const summaryExample = {
  id: '9d1c6f0e-52b3-4a83-9b8e-7a1f3c5d2e40',
  name: 'Garden magazine',
  isDefault: true,
  createdAt: '2026-11-21T07:30:00.000Z',
  updatedAt: '2026-11-21T07:30:00.000Z',
};
const instructions =
  'Write as an experienced gardener speaks to a neighbour: warm, plain, never hurried. Short sentences, concrete plants and months, no superlatives.';
const example: BrandVoice = { ...summaryExample, instructions };
const response = z.object({ brandVoice: brandVoiceSchema });
const idOf = ({ brandVoiceId }: { readonly brandVoiceId: string }): BrandVoiceId =>
  pathId(brandVoiceId, 'brand voice');

/** Voices that articles are generated in (contract.md G50 to G53). */
export const createBrandVoiceRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/brand-voices',
      operationId: 'listBrandVoices',
      summary: 'List brand voices',
      description: 'Every voice of the workspace by name, without its instructions.',
      tags: ['Generation'],
      scope: 'workspace',
      permissions: ['articles.read'],
      responses: {
        200: {
          description: 'The voices.',
          schema: z.object({ brandVoices: z.array(brandVoiceSummarySchema) }),
          example: { brandVoices: [summaryExample] },
        },
      },
    },
    async ({ context }) => ok({ brandVoices: await listPresets(context, VOICES) }),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/brand-voices',
      operationId: 'createBrandVoice',
      summary: 'Create a brand voice',
      description:
        'Instructions for how generated articles should sound. A workspace has at most 100 (409 `brand_voice_limit`).',
      tags: ['Generation'],
      scope: 'workspace',
      permissions: ['generation.configure'],
      body: createBrandVoiceBody,
      bodyExample: { name: example.name, instructions, isDefault: true },
      responses: {
        201: { description: 'The new voice.', schema: response, example: { brandVoice: example } },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, body }) => created({ brandVoice: await createPreset(context, VOICES, body) }),
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/brand-voices/{brandVoiceId}',
      operationId: 'readBrandVoice',
      summary: 'Read a brand voice',
      tags: ['Generation'],
      scope: 'workspace',
      permissions: ['articles.read'],
      responses: { 200: { description: 'The voice.', schema: response, example: { brandVoice: example } } },
    },
    async ({ context, params }) => ok({ brandVoice: await readPreset(context, VOICES, idOf(params)) }),
  ),
  defineRoute(
    {
      method: 'patch',
      path: '/api/workspaces/{workspaceId}/brand-voices/{brandVoiceId}',
      operationId: 'updateBrandVoice',
      summary: 'Change a brand voice',
      description: 'Changes only the fields you send.',
      tags: ['Generation'],
      scope: 'workspace',
      permissions: ['generation.configure'],
      body: updateBrandVoiceBody,
      bodyExample: { isDefault: true },
      responses: {
        200: { description: 'The voice as it is now.', schema: response, example: { brandVoice: example } },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params, body }) =>
      ok({ brandVoice: await updatePreset(context, VOICES, idOf(params), body) }),
  ),
  defineRoute(
    {
      method: 'delete',
      path: '/api/workspaces/{workspaceId}/brand-voices/{brandVoiceId}',
      operationId: 'deleteBrandVoice',
      summary: 'Delete a brand voice',
      description:
        'Projects that had it as their default then have none. A generation that names it uses the default voice.',
      tags: ['Generation'],
      scope: 'workspace',
      permissions: ['generation.configure'],
      responses: doneResponses('Deleted.'),
    },
    async ({ context, params }) => {
      await deletePreset(context, VOICES, idOf(params));
      return DONE;
    },
  ),
];
