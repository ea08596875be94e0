import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { iso } from '../fields.ts';
import type { WorkspaceId } from '../ids.ts';

const MAX_LISTED = 100;

/** A workspace as operators see it. */
export interface ListedWorkspace {
  readonly workspaceId: WorkspaceId;
  readonly name: string;
  readonly balance: number;
  readonly reserved: number;
  readonly createdAt: string;
  readonly suspendedAt: string | null;
  /** Null for a living one. */
  readonly deletedAt: string | null;
}

/**
 * The 100 newest living workspaces, or those whose name contains `part`, ignoring case; or deleted ones that can still be
 * restored. Operator only.
 */
export async function listWorkspaces(
  db: Database,
  { part = '', deleted = false }: { part?: string | undefined; deleted?: boolean | undefined } = {},
): Promise<ListedWorkspace[]> {
  const rows = await db
    .selectFrom('workspaces')
    .innerJoin('wallets', 'workspace_id', 'id')
    .select(['id', 'name', 'balance', 'reserved', 'created_at', 'suspended_at', 'deleted_at'])
    .where('deleted_at', deleted ? 'is not' : 'is', null)
    .where('emptying_since', 'is', null)
    .where(sql<boolean>`strpos(lower(name), lower(${part})) > 0`)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(MAX_LISTED)
    .execute();
  return rows.map(({ id, created_at, suspended_at, deleted_at, ...row }) => ({
    workspaceId: id,
    ...row,
    createdAt: iso(created_at),
    suspendedAt: iso(suspended_at),
    deletedAt: iso(deleted_at),
  }));
}
