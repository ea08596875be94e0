import type { Database } from '../db/database.ts';
import { notFound } from '../errors.ts';
import { type ArticleId, type JobId, type ProjectId, parseId } from '../ids.ts';
import type { KeyActor } from './authenticate.ts';
import { type RouteScope, SCOPE_PARAMETERS } from './route.ts';

const exists = {
  article: async (db: Database, actor: KeyActor, id: string): Promise<boolean> =>
    (await db
      .selectFrom('articles')
      .select('id')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id as ArticleId)
      .executeTakeFirst()) !== undefined,
  project: async (db: Database, actor: KeyActor, id: string): Promise<boolean> =>
    (await db
      .selectFrom('projects')
      .select('id')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id as ProjectId)
      .executeTakeFirst()) !== undefined,
  job: async (db: Database, actor: KeyActor, id: string): Promise<boolean> =>
    (await db
      .selectFrom('jobs')
      .select('id')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id as JobId)
      .executeTakeFirst()) !== undefined,
  workspace: async (_db: Database, actor: KeyActor, id: string): Promise<boolean> => actor.workspaceId === id,
};

/**
 * The path's parameters with the scope's id in its canonical form, once it is known to be the caller's.
 * @throws {ServiceError} RESOURCE_NOT_FOUND for an unknown, foreign or malformed id alike, so that
 * nobody can probe what exists (interface.md, Authentication 4)
 */
export async function requireScope(
  db: Database,
  actor: KeyActor,
  scope: RouteScope,
  params: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const name = SCOPE_PARAMETERS[scope];
  if (scope === 'caller' || name === null) return params;
  const id = parseId(params[name] ?? '');
  if (id === null || !(await exists[scope](db, actor, id))) throw notFound(scope);
  return { ...params, [name]: id };
}
