import { z } from 'zod';
import { decodeCursor, nextCursor } from '../http/paging.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { DONE, doneResponses, ok } from '../http/success.ts';
import type { ProjectId } from '../ids.ts';
import { createProject } from './create.ts';
import { deleteProject } from './delete.ts';
import { listProjects, readProject, selectProject } from './read.ts';
import {
  createProjectBody,
  listProjectsQuery,
  type Project,
  projectSchema,
  updateProjectBody,
} from './schemas.ts';
import { updateProject } from './update.ts';

const example: Project = {
  id: '2d6f0a8e-4c1b-4b7e-8e39-9a1c5d7f2b64',
  workspaceId: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11',
  name: 'Garden magazine',
  languages: ['en', 'es'],
  primaryLanguage: 'en',
  addressTemplate: 'https://example.com/{language}/{slug}',
  imageSettings: { hero: { style: 'cinematic' }, inline: { style: null } },
  citations: 'links',
  defaultBrandVoiceId: null,
  archivedAt: null,
  createdAt: '2026-11-21T07:30:00.000Z',
  updatedAt: '2026-11-21T07:30:00.000Z',
};
const responseSchema = z.object({ project: projectSchema });

/** Projects. */
export const createProjectRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/projects',
      operationId: 'listProjects',
      summary: 'List projects',
      description: 'Newest first, page by page.',
      tags: ['Projects'],
      scope: 'workspace',
      permissions: ['projects.read'],
      query: listProjectsQuery,
      responses: {
        200: {
          description: 'One page.',
          schema: z.object({
            projects: z.array(projectSchema),
            nextCursor,
          }),
          example: { projects: [example], nextCursor: null },
        },
      },
    },
    async ({ context, query: { archived, limit, cursor } }) =>
      ok(
        await listProjects(context, {
          archived: archived === undefined ? undefined : archived === 'true',
          limit,
          position: decodeCursor<ProjectId>(cursor),
        }),
      ),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/projects',
      operationId: 'createProject',
      summary: 'Create a project',
      tags: ['Projects'],
      scope: 'workspace',
      permissions: ['projects.create'],
      body: createProjectBody,
      bodyExample: {
        name: example.name,
        languages: example.languages,
        primaryLanguage: 'en',
        addressTemplate: example.addressTemplate,
      },
      responses: {
        201: { description: 'The new project.', schema: responseSchema, example: { project: example } },
      },
      errors: ['QUOTA_EXCEEDED'],
    },
    async ({ context, body }) => {
      const id = await createProject(context, body);
      return {
        status: 201,
        body: { project: await selectProject(context.db, context.actor.workspaceId, id) },
      };
    },
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/projects/{projectId}',
      operationId: 'readProject',
      summary: 'Read a project',
      tags: ['Projects'],
      scope: 'project',
      permissions: ['projects.read'],
      responses: {
        200: { description: 'The project.', schema: responseSchema, example: { project: example } },
      },
    },
    async ({ context, params }) => ok({ project: await readProject(context, params.projectId) }),
  ),
  defineRoute(
    {
      method: 'patch',
      path: '/api/projects/{projectId}',
      operationId: 'updateProject',
      summary: 'Change a project',
      description:
        'Changes only the fields you send. A language that articles use cannot be removed (409). Archiving leaves the articles published. With another addressTemplate the links between articles change within seconds. imageSettings and defaultBrandVoiceId apply to generations started from then on, citations to those that are finished from then on.',
      tags: ['Projects'],
      scope: 'project',
      permissions: ['projects.update'],
      body: updateProjectBody,
      bodyExample: { languages: ['en', 'es', 'pt-BR'] },
      responses: {
        200: {
          description: 'The project as it is now.',
          schema: responseSchema,
          example: { project: { ...example, languages: ['en', 'es', 'pt-BR'] } },
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params, body }) =>
      ok({ project: await updateProject(context, params.projectId, body) }),
  ),
  defineRoute(
    {
      method: 'delete',
      path: '/api/projects/{projectId}',
      operationId: 'deleteProject',
      summary: 'Delete a project',
      description:
        'Permanent: its articles go with it, without events. 409 while a job works on one of them.',
      tags: ['Projects'],
      scope: 'project',
      permissions: ['projects.delete'],
      responses: doneResponses('Deleted.'),
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => {
      await deleteProject(context, params.projectId);
      return DONE;
    },
  ),
];
