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
}

/** The 100 newest workspaces, or those whose name contains `part`, ignoring case. Operator only. */
export async function listWorkspaces(db: Database, part = ''): Promise<ListedWorkspace[]> {
  const rows = await db
    .selectFrom('workspaces')
    .innerJoin('wallets', 'workspace_id', 'id')
    .select(['id', 'name', 'balance', 'reserved', 'created_at'])
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`strpos(lower(name), lower(${part})) > 0`)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(MAX_LISTED)
    .execute();
  return rows.map(({ id, created_at, ...row }) => ({ workspaceId: id, ...row, createdAt: iso(created_at) }));
}
