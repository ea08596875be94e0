/** The workspace of an id given at the command line: operators name things by id alone. */
import { findKeyWorkspace } from '../api-keys/queries.ts';
import type { Queryable } from '../db/database.ts';
import { notFound } from '../errors.ts';
import type { ApiKeyId, EndpointId, JobId, ProjectId, RoleId, WorkspaceId } from '../ids.ts';
import { findRoleWorkspace } from '../roles/queries.ts';

/** @throws {ServiceError} RESOURCE_NOT_FOUND, also for a deleted one whose rows are being removed */
export async function requireWorkspace(db: Queryable, id: WorkspaceId): Promise<WorkspaceId> {
  const row = await db
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return known(row?.id, `workspace ${id}`);
}

/** @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function workspaceOfRole(db: Queryable, id: RoleId): Promise<WorkspaceId> {
  return known(await findRoleWorkspace(db, id), `role ${id}`);
}

/** @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function workspaceOfKey(db: Queryable, id: ApiKeyId): Promise<WorkspaceId> {
  return known(await findKeyWorkspace(db, id), `API key ${id}`);
}

/** @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function workspaceOfJob(db: Queryable, id: JobId): Promise<WorkspaceId> {
  const row = await db.selectFrom('jobs').select('workspace_id').where('id', '=', id).executeTakeFirst();
  return known(row?.workspace_id, `job ${id}`);
}

/** @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function workspaceOfProject(db: Queryable, id: ProjectId): Promise<WorkspaceId> {
  const row = await db.selectFrom('projects').select('workspace_id').where('id', '=', id).executeTakeFirst();
  return known(row?.workspace_id, `project ${id}`);
}

/** @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function workspaceOfEndpoint(db: Queryable, id: EndpointId): Promise<WorkspaceId> {
  const row = await db
    .selectFrom('webhook_endpoints')
    .select('workspace_id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return known(row?.workspace_id, `webhook endpoint ${id}`);
}

function known(workspaceId: WorkspaceId | null | undefined, what: string): WorkspaceId {
  if (workspaceId === null || workspaceId === undefined) throw notFound(what);
  return workspaceId;
}
