import { z } from 'zod';
import { defineRoute } from '../../../src/http/route.ts';

/** Echoes what reached the handler. */
export const echo = defineRoute(
  {
    method: 'post',
    path: '/api/workspaces/{workspaceId}/echo',
    operationId: 'echo',
    summary: 'Echo',
    tags: ['Echo'],
    scope: 'workspace',
    permissions: ['roles.read'],
    body: z.object({
      text: z.string(),
      note: z.string().max(10).optional(),
      items: z.array(z.object({ count: z.number().optional() })).default([]),
      clearable: z.string().nullable().optional(),
    }),
    responses: { 200: { description: 'The same.', schema: z.unknown() } },
  },
  async ({ body }) => ({ status: 200, body: { echoed: body, polluted: 'polluted' in {} } }),
);
