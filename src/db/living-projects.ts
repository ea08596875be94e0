import { type RawBuilder, sql } from 'kysely';
import type { WorkspaceId } from '../ids.ts';

/**
 * SQL: whether a row's project is not one of the workspace's deleted projects, whose rows `reconcile` removes (contract.md
 * L11). These are read once a statement, along an index of nothing else.
 * @param column names the project of the row
 */
export const inLivingProject = (
  workspaceId: WorkspaceId | RawBuilder<unknown>,
  column = 'project_id',
): RawBuilder<boolean> => sql<boolean>`${sql.ref(column)} <> ALL (ARRAY(
  SELECT gone.id FROM projects AS gone WHERE gone.workspace_id = ${workspaceId} AND gone.deleted_at IS NOT NULL))`;
