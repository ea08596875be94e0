import { CompiledQuery } from 'kysely';
import { parseKey } from '../api-keys/key-format.ts';
import type { Actor } from '../context.ts';
import type { Database } from '../db/database.ts';
import { preparedStatement } from '../db/prepared.ts';
import { ServiceError } from '../errors.ts';
import type { ApiKeyId, RoleId, WorkspaceId } from '../ids.ts';
import { isPermission } from '../roles/permissions.ts';

interface KeyRow {
  readonly id: ApiKeyId;
  readonly prefix: string;
  readonly workspace_id: WorkspaceId;
  readonly workspace_name: string;
  readonly role_id: RoleId;
  readonly role_name: string;
  readonly permissions: string[];
}

export type KeyActor = Extract<Actor, { kind: 'api_key' }>;

/** A key with its authority as of now. Every request runs it: neither we nor Postgres build it anew each time. */
const FIND_KEY = preparedStatement(
  'find_key',
  `SELECT k.id, k.prefix, k.workspace_id, w.name AS workspace_name, r.id AS role_id, r.name AS role_name,
          r.permissions
   FROM api_keys k
   JOIN roles r ON r.workspace_id = k.workspace_id AND r.id = k.role_id
   JOIN workspaces w ON w.id = k.workspace_id
   WHERE k.key_hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`,
);

const BEARER = /^Bearer +([^\s]+) *$/i;

/** One answer for a key that is unknown, revoked or expired: which of them it is, is nobody's business. */
const refused = (): ServiceError =>
  new ServiceError('UNAUTHENTICATED', 'The API key is not valid. It may be mistyped, expired or revoked.');

/**
 * The hash of the key that an Authorization header carries, checked without a query.
 * @throws {ServiceError} UNAUTHENTICATED when there is none, or its form or checksum is wrong
 */
export function readKeyHash(authorization: string | null): Buffer {
  if (authorization === null) {
    throw new ServiceError('UNAUTHENTICATED', 'Send an API key as Authorization: Bearer <API_KEY>.');
  }
  const hash = parseKey(BEARER.exec(authorization)?.[1] ?? '');
  if (hash === null) throw refused();
  return hash;
}

/**
 * Who the key acts for, with its role's permissions, in one statement and without any cache: a revoked
 * key or an edited role counts from the next request on, in every process.
 * @throws {ServiceError} UNAUTHENTICATED when the key is unknown, revoked or expired
 */
export async function authenticate(db: Database, hash: Buffer): Promise<KeyActor> {
  const { rows } = await db.executeQuery(CompiledQuery.raw(FIND_KEY, [hash]) as CompiledQuery<KeyRow>);
  const [row] = rows;
  if (row === undefined) throw refused();
  return {
    kind: 'api_key',
    keyId: row.id,
    keyPrefix: row.prefix,
    workspaceId: row.workspace_id,
    workspaceName: row.workspace_name,
    roleId: row.role_id,
    roleName: row.role_name,
    permissions: new Set(row.permissions.filter(isPermission)),
  };
}
