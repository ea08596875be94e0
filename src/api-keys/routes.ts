import { z } from 'zod';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { pathId } from '../http/scope.ts';
import { streamList } from '../http/stream-list.ts';
import { created, DONE, doneResponses } from '../http/success.ts';
import type { ApiKeyId } from '../ids.ts';
import { createApiKey } from './create.ts';
import { BEFORE_ALL_KEYS, readKeys } from './list.ts';
import { revokeApiKey } from './revoke.ts';
import { rotateApiKey } from './rotate.ts';
import { apiKeySchema, createApiKeyBody, createdApiKeySchema } from './schemas.ts';

const ID = '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11';
const ROLE_ID = 'c1b7f5f0-6d0e-4a0b-8f58-0f3d5d7f8e21';

const createdExample = {
  apiKey: { id: ID, prefix: 'wcsk_8Zk2bQw9xYp', label: 'Publishing site' },
  // Its checksum is wrong on purpose, so that no scanner takes it for a real one.
  key: 'wcsk_8Zk2bQw9xYpExampleExampleExampleExampleExample000',
};

/** contract.md K. */
export const createApiKeyRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/api-keys',
      operationId: 'listApiKeys',
      summary: 'List API keys',
      description:
        'Every key of the workspace, revoked and expired ones included, but those that the operator has purged. ' +
        'If the connection closes early, the list is incomplete.',
      tags: ['API keys'],
      scope: 'workspace',
      permissions: ['api_keys.read'],
      responses: {
        200: {
          description: 'The keys.',
          schema: z.object({ apiKeys: z.array(apiKeySchema) }),
          example: {
            apiKeys: [
              {
                id: ID,
                label: 'Publishing site',
                prefix: 'wcsk_8Zk2bQw9xYp',
                roleId: ROLE_ID,
                createdAt: '2026-11-21T07:30:00.000Z',
                lastUsedAt: '2026-11-21T09:12:41.120Z',
                expiresAt: null,
                revokedAt: null,
              },
            ],
          },
        },
      },
    },
    async ({ context }) => streamList('apiKeys', BEFORE_ALL_KEYS, (after) => readKeys(context, after)),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/api-keys',
      operationId: 'createApiKey',
      summary: 'Create an API key',
      description:
        'The role must belong to the workspace and hold only permissions the caller holds. Without ' +
        'expiresAt the key does not expire; a past one gives a key that is already expired. A workspace with 1,000 ' +
        'keys that are neither revoked nor expired, or 10,000 in all, gets 409 `key_limit`.',
      tags: ['API keys'],
      scope: 'workspace',
      permissions: ['api_keys.create'],
      body: createApiKeyBody,
      bodyExample: { label: 'Publishing site', roleId: ROLE_ID, expiresAt: '2027-11-21T00:00:00Z' },
      responses: {
        201: {
          description: 'The key, shown only once.',
          schema: createdApiKeySchema,
          example: createdExample,
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, body }) => created(await createApiKey(context, body)),
  ),
  defineRoute(
    {
      method: 'delete',
      path: '/api/workspaces/{workspaceId}/api-keys/{keyId}',
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key',
      description: 'The key stops authenticating at once and stays in the list. It cannot be undone.',
      tags: ['API keys'],
      scope: 'workspace',
      permissions: ['api_keys.revoke'],
      responses: doneResponses('Revoked.'),
    },
    async ({ context, params }) => {
      await revokeApiKey(context, pathId<ApiKeyId>(params.keyId, 'API key'));
      return DONE;
    },
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/api-keys/{keyId}/rotate',
      operationId: 'rotateApiKey',
      summary: 'Rotate an API key',
      description:
        'Issues a key with the same label, role and expiry and revokes the old one in one step, without overlap. ' +
        'A workspace with 50,000 keys, ended ones included, gets 409 `key_limit`.',
      tags: ['API keys'],
      scope: 'workspace',
      permissions: ['api_keys.create', 'api_keys.revoke'],
      responses: {
        201: {
          description: 'The new key, shown only once.',
          schema: createdApiKeySchema,
          example: createdExample,
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params }) =>
      created(await rotateApiKey(context, pathId<ApiKeyId>(params.keyId, 'API key'))),
  ),
];
