import { z } from 'zod';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { DONE, doneResponses, ok } from '../http/success.ts';
import { deleteWorkspace } from './delete.ts';
import { updateWorkspaceBody, type WorkspaceResponse, workspaceSchema } from './schemas.ts';
import { readWorkspace, updateWorkspace } from './settings.ts';

const example = {
  id: '0b6b2d36-8f8e-4c3a-9d4b-9f2f3c1c7a10',
  name: 'Acme',
  sharedMemory: false,
  createdAt: '2026-11-21T07:30:00.000Z',
} satisfies WorkspaceResponse;
const responseSchema = z.object({ workspace: workspaceSchema });

/** The workspace itself. */
export const createWorkspaceRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}',
      operationId: 'getWorkspace',
      summary: 'Get the workspace',
      description: 'Its name and settings.',
      tags: ['Workspaces'],
      scope: 'workspace',
      permissions: ['articles.read'],
      responses: {
        200: { description: 'The workspace.', schema: responseSchema, example: { workspace: example } },
      },
    },
    async ({ context }) => ok({ workspace: await readWorkspace(context) }),
  ),
  defineRoute(
    {
      method: 'patch',
      path: '/api/workspaces/{workspaceId}',
      operationId: 'updateWorkspace',
      summary: 'Change a setting of the workspace',
      description:
        'With `sharedMemory` translations of one project use what people approved in another. Translations and refreshes that are planned from then on go by it.',
      tags: ['Workspaces'],
      scope: 'workspace',
      permissions: ['translations.configure'],
      body: updateWorkspaceBody,
      bodyExample: { sharedMemory: true },
      responses: {
        200: {
          description: 'The workspace as it is now.',
          schema: responseSchema,
          example: { workspace: { ...example, sharedMemory: true } },
        },
      },
    },
    async ({ context, body }) => ok({ workspace: await updateWorkspace(context, body) }),
  ),
  defineRoute(
    {
      method: 'delete',
      path: '/api/workspaces/{workspaceId}',
      operationId: 'deleteWorkspace',
      summary: 'Delete the workspace',
      description:
        'Everything in it goes: keys, roles, projects, articles, categories, endpoints, credits and audit log. No event is ' +
        'emitted. From the response on, none of its keys works and nothing of it is served or sent. Its rows are removed after a grace ' +
        'period, in which the operator of the service can restore it. Refused while a job is open (409 `job_running`). Of the built-in roles only Owner may do it.',
      tags: ['Workspaces'],
      scope: 'workspace',
      permissions: ['workspaces.delete'],
      responses: doneResponses('Deleted.'),
      errors: ['CONFLICT'],
    },
    async ({ context }) => {
      await deleteWorkspace(context);
      return DONE;
    },
  ),
];
