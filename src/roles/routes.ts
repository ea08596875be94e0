import { z } from 'zod';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { pathId } from '../http/scope.ts';
import { created, DONE, doneResponses, ok } from '../http/success.ts';
import type { RoleId } from '../ids.ts';
import { createRole } from './create.ts';
import { deleteRole } from './delete.ts';
import { listRoles } from './queries.ts';
import { createRoleBody, roleSchema, updateRoleBody } from './schemas.ts';
import { updateRole } from './update.ts';

const example = {
  id: 'c1b7f5f0-6d0e-4a0b-8f58-0f3d5d7f8e21',
  name: 'Publisher',
  permissions: ['articles.publish', 'articles.read'],
  builtIn: false,
  createdAt: '2026-11-21T07:30:00.000Z',
  updatedAt: '2026-11-21T07:30:00.000Z',
};
const bodyExample = { name: 'Publisher', permissions: ['articles.read', 'articles.publish'] };
const responseSchema = z.object({ role: roleSchema });

/** Roles of a workspace: a key acts with the permissions of its role. */
export const createRoleRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/roles',
      operationId: 'listRoles',
      summary: 'List roles',
      description: 'Every role of the workspace, built-in ones first, then by name.',
      tags: ['Roles'],
      scope: 'workspace',
      permissions: ['roles.read'],
      // 1,000 roles with the longest names and all permissions.
      responseBytes: 2 * 1024 * 1024,
      responses: {
        200: {
          description: 'The roles.',
          schema: z.object({ roles: z.array(roleSchema) }),
          example: { roles: [example] },
        },
      },
    },
    async ({ context }) => ok({ roles: await listRoles(context) }),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/roles',
      operationId: 'createRole',
      summary: 'Create a role',
      description:
        'It may hold only permissions the caller holds. The name is unique in the workspace, ignoring case.',
      tags: ['Roles'],
      scope: 'workspace',
      permissions: ['roles.create'],
      body: createRoleBody,
      bodyExample,
      responses: {
        201: { description: 'The new role.', schema: responseSchema, example: { role: example } },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, body }) => created({ role: await createRole(context, body) }),
  ),
  defineRoute(
    {
      method: 'patch',
      path: '/api/workspaces/{workspaceId}/roles/{roleId}',
      operationId: 'updateRole',
      summary: 'Change a role',
      description:
        'Renames it, replaces its permissions, or both. Keys of the role follow from their next request on. ' +
        'Built-in roles cannot be edited.',
      tags: ['Roles'],
      scope: 'workspace',
      permissions: ['roles.update'],
      body: updateRoleBody,
      bodyExample,
      responses: {
        200: { description: 'The role as it is now.', schema: responseSchema, example: { role: example } },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params, body }) =>
      ok({ role: await updateRole(context, pathId<RoleId>(params.roleId, 'role'), body) }),
  ),
  defineRoute(
    {
      method: 'delete',
      path: '/api/workspaces/{workspaceId}/roles/{roleId}',
      operationId: 'deleteRole',
      summary: 'Delete a role',
      description:
        'Refused while a key that is neither revoked nor expired has it (409 `role_in_use`) and for built-in ' +
        'roles. Revoked and expired keys of the role stay listed with roleId null.',
      tags: ['Roles'],
      scope: 'workspace',
      permissions: ['roles.delete'],
      responses: doneResponses('Deleted.'),
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => {
      await deleteRole(context, pathId<RoleId>(params.roleId, 'role'));
      return DONE;
    },
  ),
];
