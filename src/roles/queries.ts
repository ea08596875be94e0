import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../context.ts';
import { countRows } from '../db/count-rows.ts';
import type { Queryable, Tx } from '../db/database.ts';
import { uniqueViolation } from '../db/errors.ts';
import { conflict } from '../errors.ts';
import { iso } from '../fields.ts';
import { newId, type RoleId, type WorkspaceId } from '../ids.ts';
import { nameKey } from '../name-key.ts';
import { BUILT_IN_ROLES, isPermission, permissionsOf } from '../permissions.ts';
import type { RoleItem } from './schemas.ts';

const COLUMNS = ['id', 'name', 'permissions', 'built_in', 'created_at', 'updated_at'] as const;

export interface RoleRow {
  readonly id: RoleId;
  readonly name: string;
  readonly permissions: string[];
  readonly built_in: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const toItem = (row: RoleRow): RoleItem => ({
  id: row.id,
  name: row.name,
  // Names known only to a later release are no permissions here.
  permissions: permissionsOf(row).filter(isPermission).sort(),
  builtIn: row.built_in,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

/** Every role of the workspace, built-in ones first, then by name. */
export async function listRoles({ db, actor }: VerbContext): Promise<RoleItem[]> {
  requirePermissions(actor, 'roles.read');
  const rows = await db
    .selectFrom('roles')
    .select(COLUMNS)
    .where('workspace_id', '=', actor.workspaceId)
    .orderBy('built_in', 'desc')
    .orderBy('name')
    .execute();
  return rows.map(toItem);
}

/** True when the workspace has the role. */
export async function hasRole(db: Queryable, workspaceId: WorkspaceId, id: RoleId): Promise<boolean> {
  const row = await db
    .selectFrom('roles')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * The role with its row locked, or undefined. `grant` keeps it from being edited or deleted before the transaction
 * ends; `change` is for editing or deleting it. A deletion locks it before counting keys.
 */
export async function lockRole(
  tx: Tx,
  workspaceId: WorkspaceId,
  id: RoleId,
  purpose: 'grant' | 'change',
): Promise<RoleRow | undefined> {
  const query = tx
    .selectFrom('roles')
    .select(COLUMNS)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id);
  return (purpose === 'grant' ? query.forShare() : query.forUpdate()).executeTakeFirst();
}

export interface NewRole {
  readonly id: RoleId;
  readonly workspaceId: WorkspaceId;
  readonly name: string;
  readonly permissions: readonly string[];
  readonly builtIn: boolean;
}

export async function insertRole(tx: Tx, role: NewRole): Promise<RoleItem> {
  const row = await tx
    .insertInto('roles')
    .values({
      id: role.id,
      workspace_id: role.workspaceId,
      name: role.name,
      name_key: nameKey(role.name),
      permissions: [...role.permissions],
      built_in: role.builtIn,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  return toItem(row);
}

/** Roles of a workspace, built-in ones included: the list has no pages. */
const MAX_ROLES = 1_000;

/** For a transaction that holds the workspace. @throws {ServiceError} CONFLICT `role_limit` */
export async function requireRoom(tx: Tx, workspaceId: WorkspaceId): Promise<void> {
  const count = await countRows(tx, tx.selectFrom('roles').where('workspace_id', '=', workspaceId));
  if (count >= MAX_ROLES) {
    throw conflict(`A workspace has at most ${MAX_ROLES} roles; delete one first.`, 'role_limit');
  }
}

export async function updateRoleRow(
  tx: Tx,
  workspaceId: WorkspaceId,
  id: RoleId,
  change: { name?: string | undefined; permissions?: readonly string[] | undefined },
): Promise<RoleItem> {
  const row = await tx
    .updateTable('roles')
    .set({
      ...(change.name === undefined ? {} : { name: change.name, name_key: nameKey(change.name) }),
      ...(change.permissions === undefined ? {} : { permissions: [...change.permissions] }),
      updated_at: sql<Date>`now()`,
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  return toItem(row);
}

/** True when an active key has the role. */
export async function hasLiveKey(tx: Tx, workspaceId: WorkspaceId, id: RoleId): Promise<boolean> {
  const row = await tx
    .selectFrom('api_keys')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('role_id', '=', id)
    .where('revoked_at', 'is', null)
    .where(sql<boolean>`(expires_at IS NULL OR expires_at > clock_timestamp())`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The workspace of a role, or null: for the operator, who names a role by its id alone. */
export async function findRoleWorkspace(db: Queryable, id: RoleId): Promise<WorkspaceId | null> {
  const row = await db.selectFrom('roles').select('workspace_id').where('id', '=', id).executeTakeFirst();
  return row?.workspace_id ?? null;
}

/** Rethrows an error, a taken name as 409 `name_taken`. */
export function rethrowNameTaken(error: unknown): never {
  throw uniqueViolation(error) === 'roles_folded_name_key'
    ? conflict('The workspace already has a role with that name.', 'name_taken')
    : error;
}

/** Gives a new workspace its built-in roles, in the transaction that creates it. */
export async function insertBuiltInRoles(
  tx: Tx,
  workspaceId: WorkspaceId,
): Promise<{ owner: RoleId; admin: RoleId; editor: RoleId }> {
  const insert = async ({ name, permissions }: (typeof BUILT_IN_ROLES)[keyof typeof BUILT_IN_ROLES]) => {
    const role = { id: newId<RoleId>(), workspaceId, name, permissions, builtIn: true };
    return (await insertRole(tx, role)).id;
  };
  return {
    owner: await insert(BUILT_IN_ROLES.owner),
    admin: await insert(BUILT_IN_ROLES.admin),
    editor: await insert(BUILT_IN_ROLES.editor),
  };
}
