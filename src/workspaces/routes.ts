import { defineRoute, type RouteModule } from '../http/route.ts';
import { DONE, doneResponses } from '../http/success.ts';
import { deleteWorkspace } from './delete.ts';

/** How long a request removes a workspace's rows, in milliseconds; `reconcile` removes the rest. */
const REMOVAL_MS = 5_000;

/** The workspace itself. */
export const createWorkspaceRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'delete',
      path: '/api/workspaces/{workspaceId}',
      operationId: 'deleteWorkspace',
      summary: 'Delete the workspace',
      description:
        'Everything in it goes: keys, roles, projects, articles, categories, endpoints, credits and audit log. This cannot be ' +
        'undone and emits no events. From the response on, none of its keys works; the rows of a large workspace are removed over the ' +
        'following minutes. Refused while a job is open (409 `job_running`). Of the built-in roles only Owner may do it.',
      tags: ['Workspaces'],
      scope: 'workspace',
      permissions: ['workspaces.delete'],
      responses: doneResponses('Deleted.'),
      errors: ['CONFLICT'],
    },
    async ({ context }) => {
      await deleteWorkspace(context, REMOVAL_MS);
      return DONE;
    },
  ),
];
