import { decodeCursor, pageQuery } from '../http/paging.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { ok } from '../http/success.ts';
import type { AuditEntryId } from '../ids.ts';
import { listAuditEntries } from './list.ts';
import { auditPageSchema } from './schemas.ts';

/** What was changed in a workspace, by whom and when. */
export const createAuditRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/audit',
      operationId: 'listAuditEntries',
      summary: 'Read the audit log',
      description: 'Newest first, page by page. Entries hold no keys and no secrets.',
      tags: ['Audit'],
      scope: 'workspace',
      permissions: ['audit.read'],
      query: pageQuery,
      responses: {
        200: {
          description: 'One page.',
          schema: auditPageSchema,
          example: {
            entries: [
              {
                id: '5d0f6c7e-2f0b-4b59-9a0e-1f0c6f0b7d11',
                action: 'api_keys.created',
                actor: { kind: 'api_key', id: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11' },
                targetType: 'api_key',
                targetId: '3a1f6b0c-9f5c-4f6a-8c35-0e6a4f1d2b77',
                details: { label: 'Publishing site', prefix: 'wcsk_8Zk2bQw9xYp' },
                requestId: '0d3c9b7e-5a41-4a8e-9a57-2f6c1f1f8d20',
                createdAt: '2026-11-21T07:30:00.000Z',
              },
            ],
            nextCursor: null,
          },
        },
      },
    },
    async ({ context, query }) =>
      ok(
        await listAuditEntries(context, {
          limit: query.limit,
          position: decodeCursor<AuditEntryId>(query.cursor),
        }),
      ),
  ),
];
