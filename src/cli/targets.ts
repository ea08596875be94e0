/** The workspace of an id given at the command line: operators name things by id alone. */
import { findKeyWorkspace } from '../api-keys/queries.ts';
import type { Queryable } from '../db/database.ts';
import { notFound } from '../errors.ts';
import type { ApiKeyId, EndpointId, JobId, ProjectId, RoleId, WorkspaceId } from '../ids.ts';
import { findRoleWorkspace } from '../roles/queries.ts';

/** @throws {ServiceError} RESOURCE_NOT_FOUND, also for a deleted one */
export const requireWorkspace = (db: Queryable, id: WorkspaceId): Promise<WorkspaceId> =>
  known(db, id, `workspace ${id}`);

/** @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function workspaceOfRole(db: Queryable, id: RoleId): Promise<WorkspaceId> {
  return known(db, await findRoleWorkspace(db, id), `role ${id}`);
}

/** @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function workspaceOfKey(db: Queryable, id: ApiKeyId): Promise<WorkspaceId> {
  return known(db, await findKeyWorkspace(db, id), `API key ${id}`);
}

/** @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function workspaceOfJob(db: Queryable, id: JobId): Promise<WorkspaceId> {
  const row = await db
    .selectFrom('jobs')
    .innerJoin('projects', 'projects.id', 'jobs.project_id')
    .select('jobs.workspace_id')
    .where('jobs.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .executeTakeFirst();
  return known(db, row?.workspace_id, `job ${id}`);
}

/** @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function workspaceOfProject(db: Queryable, id: ProjectId): Promise<WorkspaceId> {
  const row = await db
    .selectFrom('projects')
    .select('workspace_id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return known(db, row?.workspace_id, `project ${id}`);
}

/** @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function workspaceOfEndpoint(db: Queryable, id: EndpointId): Promise<WorkspaceId> {
  const row = await db
    .selectFrom('webhook_endpoints')
    .select('workspace_id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return known(db, row?.workspace_id, `webhook endpoint ${id}`);
}

/** A living workspace: what a deleted one has is unknown to every command but `workspace restore`. */
async function known(
  db: Queryable,
  workspaceId: WorkspaceId | null | undefined,
  what: string,
): Promise<WorkspaceId> {
  if (workspaceId === null || workspaceId === undefined) throw notFound(what);
  await db
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow(() => notFound(what));
  return workspaceId;
}
