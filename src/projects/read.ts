import { requirePermissions, type VerbContext } from '../context.ts';
import type { Queryable } from '../db/database.ts';
import { notFound } from '../errors.ts';
import { type PageRequest, readPage } from '../http/paging.ts';
import type { ProjectId, WorkspaceId } from '../ids.ts';
import { type Project, projectColumns, toProject } from './schemas.ts';

/** @throws {ServiceError} RESOURCE_NOT_FOUND */
export async function selectProject(
  db: Queryable,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
): Promise<Project> {
  const row = await db
    .selectFrom('projects')
    .select(projectColumns)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow(() => notFound('project'));
  return toProject(row);
}

/** Reads one project of the actor's workspace (projects.read). */
export async function readProject({ db, actor }: VerbContext, projectId: ProjectId): Promise<Project> {
  requirePermissions(actor, 'projects.read');
  return selectProject(db, actor.workspaceId, projectId);
}

/** One page of the workspace's projects (projects.read), newest first, beginning after `position`. */
export async function listProjects(
  { db, actor }: VerbContext,
  { archived, ...page }: PageRequest<ProjectId> & { archived?: boolean | undefined },
): Promise<{ projects: Project[]; nextCursor: string | null }> {
  requirePermissions(actor, 'projects.read');
  let query = db
    .selectFrom('projects')
    .select(projectColumns)
    .where('workspace_id', '=', actor.workspaceId)
    .where('deleted_at', 'is', null);
  if (archived !== undefined) query = query.where('archived_at', archived ? 'is not' : 'is', null);
  const { rows, nextCursor } = await readPage(db, query, page);
  return { projects: rows.map(toProject), nextCursor };
}
