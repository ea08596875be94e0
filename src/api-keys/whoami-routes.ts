import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import { uuid } from '../fields.ts';
import { type HttpLimits, requestLimits } from '../http/limits.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { PERMISSIONS } from '../permissions.ts';

const named = z.object({ id: uuid, name: z.string() });

const whoamiSchema = z.object({
  workspace: named,
  role: named,
  permissions: z.array(z.enum(PERMISSIONS)).meta({ description: 'What the role holds now, sorted.' }),
  apiKey: z.object({ id: uuid, prefix: z.string() }),
  limits: z.object({
    requestsPerMinute: z.object({
      key: z.int().nullable().meta({ description: 'Null when there is no such limit.' }),
      workspace: z.int().nullable(),
    }),
  }),
});

const perMinute = (limit: number): number | null => (limit === 0 ? null : limit);

/** The key's workspace, permissions and limits. Any valid key may call it. */
export const createWhoamiRoutes = (limits: Pick<HttpLimits, 'perKey' | 'perWorkspace'>): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/whoami',
      operationId: 'whoami',
      summary: 'Who am I',
      description: 'The workspace, role, permissions and limits of the calling key.',
      tags: ['API keys'],
      scope: 'caller',
      permissions: [],
      responses: {
        200: {
          description: 'The caller.',
          schema: whoamiSchema,
          example: {
            workspace: { id: '0b6b2d36-8f8e-4c3a-9d4b-9f2f3c1c7a10', name: 'Acme' },
            role: { id: 'c1b7f5f0-6d0e-4a0b-8f58-0f3d5d7f8e21', name: 'Editor' },
            permissions: ['articles.read', 'categories.read'],
            apiKey: { id: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11', prefix: 'wcsk_8Zk2bQw9xYp' },
            limits: { requestsPerMinute: { key: 6000, workspace: 24000 } },
          },
        },
      },
    },
    async ({ context: { actor } }) => {
      if (actor.kind !== 'api_key') throw new ServiceError('UNAUTHENTICATED', 'This call needs an API key.');
      const { key, workspace } = requestLimits(limits, actor);
      return {
        status: 200,
        body: {
          workspace: { id: actor.workspaceId, name: actor.workspaceName },
          role: { id: actor.roleId, name: actor.roleName },
          permissions: [...actor.permissions].sort(),
          apiKey: { id: actor.keyId, prefix: actor.keyPrefix },
          limits: {
            requestsPerMinute: { key: perMinute(key), workspace: perMinute(workspace) },
          },
        },
      };
    },
  ),
];
