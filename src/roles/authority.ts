import { sql } from 'kysely';
import { type Actor, requirePermissions } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { lockWorkspace } from '../db/lock-workspace.ts';
import { keyRefused, ServiceError } from '../errors.ts';
import type { ApiKeyId, RoleId } from '../ids.ts';
import { isPermission, type Permission, permissionsOf } from '../permissions.ts';
import { lockRole, type RoleRow } from './queries.ts';

/**
 * Every transaction of a request reads its authority again (present-authority.ts). Verbs that grant some, or give out a
 * secret, hold it as well: they call `holdKey`, then `holdRoles`; after that neither a revocation nor an edit of the
 * role can intervene. Everything is locked in one order: the workspace, keys by id, roles by id.
 */

/** A key whose row is locked. */
export interface HeldKey {
  readonly label: string;
  readonly roleId: RoleId | null;
  readonly expiresAt: Date | null;
  readonly revoked: boolean;
  readonly expired: boolean;
}

async function lockKey(
  tx: Tx,
  { workspaceId }: Actor,
  id: ApiKeyId,
  purpose: 'hold' | 'replace',
): Promise<HeldKey | undefined> {
  const query = tx
    .selectFrom('api_keys')
    .select(['label', 'role_id', 'expires_at'])
    .select([
      sql<boolean>`revoked_at IS NOT NULL`.as('revoked'),
      sql<boolean>`coalesce(expires_at <= clock_timestamp(), false)`.as('expired'),
    ])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id);
  const row = await (purpose === 'hold' ? query.forShare() : query.forNoKeyUpdate()).executeTakeFirst();
  if (row === undefined) return undefined;
  const { role_id: roleId, expires_at: expiresAt, ...rest } = row;
  return { roleId, expiresAt, ...rest };
}

/**
 * Locks the workspace and the caller's key until the transaction ends, and another key that is to be replaced. Verbs of
 * one workspace that grant authority take turns, so a revocation never waits for more than one of them.
 * @returns the other key; undefined when the workspace has none with this id or none was named
 * @throws {ServiceError} UNAUTHENTICATED when the caller's key has ended; in a deleted workspace as `lockWorkspace`
 */
export async function holdKey(tx: Tx, actor: Actor, toReplace?: ApiKeyId): Promise<HeldKey | undefined> {
  const own = actor.kind === 'api_key' ? actor.keyId : undefined;
  await lockWorkspace(tx, actor);
  const ids = new Set([own, toReplace].filter((id) => id !== undefined));
  let replaced: HeldKey | undefined;
  for (const id of [...ids].sort()) {
    const key = await lockKey(tx, actor, id, id === toReplace ? 'replace' : 'hold');
    if (id === own && (key === undefined || key.revoked || key.expired)) throw keyRefused();
    if (id === toReplace) replaced = key;
  }
  return replaced;
}

/** The caller with its role's present permissions, and the role to be granted or changed. */
export interface HeldRoles {
  readonly actor: Actor;
  /** Undefined when the workspace has no such role, or none was named. */
  readonly role: RoleRow | undefined;
}

/**
 * Locks the caller's role until the transaction ends, and the role to be granted or changed.
 * @throws {ServiceError} UNAUTHENTICATED when the caller's role is gone; FORBIDDEN when it now lacks a wanted
 *   permission
 */
export async function holdRoles(
  tx: Tx,
  actor: Actor,
  wanted: readonly Permission[],
  target?: { readonly id: RoleId; readonly purpose: 'grant' | 'change' },
): Promise<HeldRoles> {
  const own = actor.kind === 'api_key' ? actor.roleId : undefined;
  const ids = new Set([own, target?.id].filter((id) => id !== undefined));
  const rows = new Map<RoleId, RoleRow>();
  for (const id of [...ids].sort()) {
    const purpose = id === target?.id ? target.purpose : 'grant';
    const row = await lockRole(tx, actor.workspaceId, id, purpose);
    if (row !== undefined) rows.set(id, row);
  }
  const role = target && rows.get(target.id);
  if (actor.kind !== 'api_key') return { actor, role };
  const ownRow = rows.get(actor.roleId);
  if (ownRow === undefined) throw keyRefused();
  const current: Actor = { ...actor, permissions: new Set(permissionsOf(ownRow).filter(isPermission)) };
  requirePermissions(current, ...wanted);
  return { actor: current, role };
}

/**
 * A caller grants only permissions it holds. Permissions unknown to this release count as lacking.
 * @throws {ServiceError} FORBIDDEN with the lacking permissions in `details.permissions`, sorted
 */
export function requireGrantable(actor: Actor, permissions: readonly string[]): void {
  if (actor.kind === 'operator') return;
  const held: ReadonlySet<string> = actor.permissions;
  const missing = [...new Set(permissions)].filter((name) => !held.has(name)).sort();
  if (missing.length === 0) return;
  throw new ServiceError('FORBIDDEN', `The role holds permissions you lack: ${missing.join(', ')}.`, {
    details: { permissions: missing },
  });
}
