import { defineRoute, type RouteModule } from '../http/route.ts';
import { DONE, doneResponses } from '../http/success.ts';
import { deleteWorkspace } from './delete.ts';

/** The workspace itself. */
export const createWorkspaceRoutes = (): RouteModule[] => [
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
