import { decodeCursor } from '../../http/paging.ts';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { pathId } from '../../http/scope.ts';
import { DONE, doneResponses, ok } from '../../http/success.ts';
import type { MemoryEntryId } from '../../ids.ts';
import { deleteEntry } from './delete.ts';
import { listMemory } from './list.ts';
import { listMemoryQuery, type MemoryEntry, memoryPageSchema } from './schemas.ts';

const example = {
  id: '8e1b9a57-3c40-4f0e-9d3c-6a2f1b7c5d08',
  origin: 'people',
  kind: 'paragraph',
  sourceLanguage: 'en',
  language: 'es',
  sourceText: 'Water young plants in the morning.',
  targetText: 'Riegue las plantas jóvenes por la mañana.',
  projectId: '2f6c1d0e-7b35-4a8e-9c61-0d4b8f3a5e17',
  article: { id: '4a9d7c3b-1e52-4f68-8b07-9c2d6e5f1a30', title: 'Un jardín en primavera' },
  serves: true,
  createdAt: '2026-11-21T07:30:00.000Z',
} satisfies MemoryEntry;

/** The memory of translations, to look at and to correct (contract.md V53 to V56). */
export const createMemoryRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/translation-memory',
      operationId: 'listTranslationMemory',
      summary: 'List the memory of translations',
      description:
        'What translations take from the memory, newest first, page by page. A request looks at up to 5,000 entries, or 2 MiB of texts: with `q` a page can be short or empty while there are more, so read on while `nextCursor` is not null. Approved texts are read into the memory by the next translation.',
      tags: ['Translations'],
      scope: 'workspace',
      permissions: ['articles.read'],
      query: listMemoryQuery,
      responses: {
        200: {
          description: 'One page.',
          schema: memoryPageSchema,
          example: { entries: [example], nextCursor: null },
        },
      },
    },
    async ({ context, query: { cursor, ...filter } }) =>
      ok(await listMemory(context, { ...filter, position: decodeCursor<MemoryEntryId>(cursor) })),
  ),
  defineRoute(
    {
      method: 'delete',
      path: '/api/workspaces/{workspaceId}/translation-memory/{entryId}',
      operationId: 'deleteTranslationMemoryEntry',
      summary: 'Delete an entry of the memory',
      description:
        'No translation uses it from then on. It does not come back while its version has the same text. The version itself and entries of other versions stay.',
      tags: ['Translations'],
      scope: 'workspace',
      permissions: ['translations.configure'],
      responses: doneResponses('Deleted.'),
    },
    async ({ context, params }) => {
      await deleteEntry(context, pathId<MemoryEntryId>(params.entryId, 'entry'));
      return DONE;
    },
  ),
];
