import { z } from 'zod';
import { decodeCursor, nextCursor } from '../../http/paging.ts';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { pathId } from '../../http/scope.ts';
import { created, DONE, doneResponses, ok } from '../../http/success.ts';
import type { GlossaryTermId } from '../../ids.ts';
import {
  createTermBody,
  type GlossaryTermResponse,
  importedSchema,
  importTermsBody,
  listTermsQuery,
  termSchema,
  updateTermBody,
} from './schemas.ts';
import { listTerms } from './terms.ts';
import { createTerm, deleteTerm, importTerms, updateTerm } from './write.ts';

const example = {
  id: '5d0c2f1b-6a7e-4f38-8b1d-2c9e4a7f6b05',
  sourceLanguage: 'en',
  targetLanguage: 'es',
  source: 'raised bed',
  target: 'bancal elevado',
  caseSensitive: false,
  createdAt: '2026-11-21T07:30:00.000Z',
  updatedAt: '2026-11-21T07:30:00.000Z',
} satisfies GlossaryTermResponse;
const responseSchema = z.object({ term: termSchema });

/** The glossary of a workspace (contract.md V9 to V11). */
export const createGlossaryRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/glossary',
      operationId: 'listGlossaryTerms',
      summary: 'List the terms of the glossary',
      description: 'Newest first, page by page.',
      tags: ['Translations'],
      scope: 'workspace',
      permissions: ['articles.read'],
      query: listTermsQuery,
      responses: {
        200: {
          description: 'One page.',
          schema: z.object({ terms: z.array(termSchema), nextCursor }),
          example: { terms: [example], nextCursor: null },
        },
      },
    },
    async ({ context, query: { cursor, ...filter } }) =>
      ok(await listTerms(context, { ...filter, position: decodeCursor<GlossaryTermId>(cursor) })),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/glossary',
      operationId: 'createGlossaryTerm',
      summary: 'Add a term to the glossary',
      description:
        'A term is translated as its target, or kept as it is when it has none. Words, ignoring case, source and target language are unique together. A workspace has up to 5,000.',
      tags: ['Translations'],
      scope: 'workspace',
      permissions: ['translations.configure'],
      body: createTermBody,
      bodyExample: {
        sourceLanguage: 'en',
        targetLanguage: 'es',
        source: example.source,
        target: example.target,
      },
      responses: {
        201: { description: 'The new term.', schema: responseSchema, example: { term: example } },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, body }) => created({ term: await createTerm(context, body) }),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/glossary/import',
      operationId: 'importGlossaryTerms',
      summary: 'Import terms into the glossary',
      description:
        'Adds up to 1,000 terms, or replaces existing ones with the same words and languages: all of them or, when one is invalid or there are too many, none.',
      tags: ['Translations'],
      scope: 'workspace',
      permissions: ['translations.configure'],
      body: importTermsBody,
      bodyBytes: 1_048_576,
      bodyExample: {
        terms: [
          { sourceLanguage: 'en', targetLanguage: 'es', source: 'raised bed', target: 'bancal elevado' },
          { sourceLanguage: 'en', source: 'Plantwise', caseSensitive: true },
        ],
      },
      responses: {
        200: {
          description: 'How many were added, replaced, and already as sent.',
          schema: importedSchema,
          example: { created: 1, updated: 1, unchanged: 0 },
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, body }) => ok(await importTerms(context, body.terms)),
  ),
  defineRoute(
    {
      method: 'patch',
      path: '/api/workspaces/{workspaceId}/glossary/{termId}',
      operationId: 'updateGlossaryTerm',
      summary: 'Change a term of the glossary',
      description: 'Changes only the fields you send; its languages stay.',
      tags: ['Translations'],
      scope: 'workspace',
      permissions: ['translations.configure'],
      body: updateTermBody,
      bodyExample: { target: 'cama elevada' },
      responses: {
        200: {
          description: 'The term as it is now.',
          schema: responseSchema,
          example: { term: { ...example, target: 'cama elevada' } },
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params, body }) =>
      ok({ term: await updateTerm(context, pathId<GlossaryTermId>(params.termId, 'term'), body) }),
  ),
  defineRoute(
    {
      method: 'delete',
      path: '/api/workspaces/{workspaceId}/glossary/{termId}',
      operationId: 'deleteGlossaryTerm',
      summary: 'Delete a term of the glossary',
      tags: ['Translations'],
      scope: 'workspace',
      permissions: ['translations.configure'],
      responses: doneResponses('Deleted.'),
    },
    async ({ context, params }) => {
      await deleteTerm(context, pathId<GlossaryTermId>(params.termId, 'term'));
      return DONE;
    },
  ),
];
