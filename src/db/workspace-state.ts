import { type RawBuilder, sql } from 'kysely';
import { keyRefused, ServiceError } from '../errors.ts';
import type { WorkspaceId } from '../ids.ts';
import type { Queryable } from './database.ts';

/**
 * The state of a workspace. It is served while it is neither deleted nor suspended. A deleted one exists until it has
 * been emptied, after WORKSPACE_GRACE_DAYS; until then an operator can restore it.
 */
export interface WorkspaceState {
  readonly deleted: boolean;
  readonly suspended: boolean;
}

/** SQL: the two columns of {@link WorkspaceState}, of a row of `workspaces` called `w`. */
export const WORKSPACE_STATE = 'w.deleted_at IS NOT NULL AS deleted, w.suspended_at IS NOT NULL AS suspended';

/** SQL: whether the workspace is there and not deleted. */
export const isLivingWorkspace = (id: WorkspaceId | RawBuilder<unknown>): RawBuilder<boolean> => sql<boolean>`
  EXISTS (SELECT FROM workspaces WHERE workspaces.id = ${id} AND workspaces.deleted_at IS NULL)`;

/** SQL: whether the workspace is there and neither deleted nor suspended. */
export const isServedWorkspace = (id: WorkspaceId | RawBuilder<unknown>): RawBuilder<boolean> => sql<boolean>`
  EXISTS (SELECT FROM workspaces
    WHERE workspaces.id = ${id} AND workspaces.deleted_at IS NULL AND workspaces.suspended_at IS NULL)`;

/** 403 for every request of a suspended workspace (contract.md L5). */
export const workspaceSuspended = (): ServiceError =>
  new ServiceError('FORBIDDEN', 'The workspace is suspended. Ask the operator of the service.', {
    details: { reason: 'workspace_suspended' },
  });

/** @throws {ServiceError} FORBIDDEN `workspace_suspended` */
export function refuseSuspended({ suspended }: Pick<WorkspaceState, 'suspended'>): void {
  if (suspended) throw workspaceSuspended();
}

/**
 * Of a workspace that is not there, and of a deleted one, no key is valid.
 * @throws {ServiceError} UNAUTHENTICATED; FORBIDDEN `workspace_suspended`
 */
export function requireServed(state: WorkspaceState | undefined): void {
  if (state === undefined || state.deleted) throw keyRefused();
  refuseSuspended(state);
}

/** {@link requireServed} of the workspace as this statement sees it. */
export async function requireServedNow(db: Queryable, workspaceId: WorkspaceId): Promise<void> {
  const { rows } = await sql<WorkspaceState>`
    SELECT ${sql.raw(WORKSPACE_STATE)} FROM workspaces AS w WHERE w.id = ${workspaceId}`.execute(db);
  requireServed(rows[0]);
}
