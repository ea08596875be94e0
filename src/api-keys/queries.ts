import { clockTimestamp } from '../db/clock.ts';
import type { Queryable, Tx } from '../db/database.ts';
import { foreignKeyViolation } from '../db/errors.ts';
import { textStatement } from '../db/prepared.ts';
import { conflict, type ServiceError } from '../errors.ts';
import { iso } from '../fields.ts';
import type { ApiKeyId, RoleId, WorkspaceId } from '../ids.ts';

const MAX_LIVING_KEYS = 1_000;
const MAX_KEYS = 10_000;
/** A leaked key can be rotated even where no other may be made. */
const MAX_KEYS_WITH_ROTATED = 50_000;

const countStatement = textStatement<{ living: number; all: number }>(
  'count_api_keys',
  `SELECT count(*)::integer AS "all", (count(*) FILTER (
     WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())))::integer AS living
   FROM api_keys WHERE workspace_id = $1`,
);

/** The keys of a workspace: those that are neither revoked nor expired, and all. */
export async function countKeys(
  db: Queryable,
  workspaceId: WorkspaceId,
): Promise<{ readonly living: number; readonly all: number }> {
  const [counts] = await countStatement(db, workspaceId);
  return counts ?? { living: 0, all: 0 };
}

const tooMany = (limit: string, wayOut: string): ServiceError =>
  conflict(`A workspace has at most ${limit}; ${wayOut}.`, 'key_limit');
const PURGE = 'ask the operator to purge ended ones';

/**
 * Whether one more key may be made, or take the place of another (contract.md K16). The workspace is locked.
 * @throws {ServiceError} CONFLICT `key_limit`
 */
export async function requireRoom(
  tx: Tx,
  workspaceId: WorkspaceId,
  purpose: 'create' | 'rotate',
): Promise<void> {
  const { living, all } = await countKeys(tx, workspaceId);
  if (purpose === 'rotate') {
    if (all >= MAX_KEYS_WITH_ROTATED) throw tooMany('50,000 keys, ended ones included', PURGE);
    return;
  }
  if (living >= MAX_LIVING_KEYS) {
    throw tooMany('1,000 keys that are neither revoked nor expired', 'revoke one first');
  }
  if (all >= MAX_KEYS) throw tooMany('10,000 keys, ended ones included', PURGE);
}

/** The workspace of a key, or null: for the operator, who names a key by its id alone. */
export async function findKeyWorkspace(db: Queryable, id: ApiKeyId): Promise<WorkspaceId | null> {
  const row = await db.selectFrom('api_keys').select('workspace_id').where('id', '=', id).executeTakeFirst();
  return row?.workspace_id ?? null;
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
