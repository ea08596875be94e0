import { requirePermissions, type VerbContext } from '../context.ts';
import { clockTimestamp } from '../db/clock.ts';
import type { Tx } from '../db/database.ts';
import { foreignKeyViolation } from '../db/errors.ts';
import { isoText } from '../db/iso-text.ts';
import { textStatement } from '../db/prepared.ts';
import { conflict, type ServiceError } from '../errors.ts';
import { iso } from '../fields.ts';
import type { ApiKeyId, RoleId, WorkspaceId } from '../ids.ts';
import { JsonText } from '../json-text.ts';

/** JSON is built by Postgres: ended keys stay, so there may be very many. */
const listKeys = textStatement<{ keys: string }>(
  'list_api_keys',
  `SELECT coalesce(json_agg(json_build_object('id', id, 'label', label, 'prefix', prefix, 'roleId', role_id,
     'createdAt', ${isoText('created_at')}, 'lastUsedAt', ${isoText('last_used_at')},
     'expiresAt', ${isoText('expires_at')}, 'revokedAt', ${isoText('revoked_at')}) ORDER BY created_at, id), '[]')::text AS keys
   FROM api_keys WHERE workspace_id = $1`,
);

/** Every key of the workspace, revoked and expired ones included, oldest first (contract.md K3). @returns ApiKeyItem[] as text */
export async function listApiKeys({ db, actor }: VerbContext): Promise<JsonText> {
  requirePermissions(actor, 'api_keys.read');
  const [row] = await listKeys(db, actor.workspaceId);
  return new JsonText(row?.keys ?? '[]');
}

export interface NewApiKey {
  readonly id: ApiKeyId;
  readonly workspaceId: WorkspaceId;
  readonly roleId: RoleId;
  readonly label: string;
  readonly prefix: string;
  readonly hash: Buffer;
  readonly expiresAt: Date | null;
}

/** Inserts a new key. A concurrently deleted role violates `api_keys_role_fkey`. */
export async function insertApiKey(tx: Tx, key: NewApiKey): Promise<void> {
  await tx
    .insertInto('api_keys')
    .values({
      id: key.id,
      workspace_id: key.workspaceId,
      role_id: key.roleId,
      label: key.label,
      prefix: key.prefix,
      key_hash: key.hash,
      expires_at: key.expiresAt === null ? null : iso(key.expiresAt),
    })
    .execute();
}

/** Revokes an unrevoked key; false when the workspace has none with this id. */
export async function revokeKey(tx: Tx, workspaceId: WorkspaceId, id: ApiKeyId): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('api_keys')
    .set({ revoked_at: clockTimestamp })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** contract.md K7: the role was deleted while its key was being created, or before its rotation. */
export const roleDeleted = (): ServiceError => conflict('The role was deleted.', 'role_deleted');

/** Rethrows an error, a violated reference to a role as 409 `role_deleted`. */
export function rethrowRoleDeleted(error: unknown): never {
  throw foreignKeyViolation(error) === 'api_keys_role_fkey' ? roleDeleted() : error;
}
