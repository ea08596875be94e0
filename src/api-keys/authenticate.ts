import type { KeyActor } from '../context.ts';
import type { Database } from '../db/database.ts';
import { textStatement } from '../db/prepared.ts';
import { keyRefused, ServiceError } from '../errors.ts';
import type { PathResource } from '../http/route.ts';
import type { Identified, Identify, NamedResource } from '../http/scope.ts';
import type { ApiKeyId, RoleId, WorkspaceId } from '../ids.ts';
import { BUILT_IN_ROLES, isPermission, type Permission } from '../permissions.ts';
import { parseKey } from './key-format.ts';
import type { LastUsedRecorder } from './last-used.ts';

interface KeyRow {
  readonly id: ApiKeyId;
  readonly prefix: string;
  readonly workspace_id: WorkspaceId;
  readonly workspace_name: string;
  readonly role_id: RoleId;
  readonly role_name: string;
  readonly built_in: boolean;
  /** Names separated by spaces: text is faster to read than an array. */
  readonly permissions: string;
  readonly found: boolean;
}

/**
 * A key with its present authority, and whether the workspace has what the path names. Every request runs one of these,
 * so the statements are built once.
 */
const findKey = (name: string, found: string) =>
  textStatement<KeyRow>(
    name,
    `SELECT k.id, k.prefix, k.workspace_id, w.name AS workspace_name, r.id AS role_id, r.name AS role_name,
            r.built_in, array_to_string(r.permissions, ' ') AS permissions, ${found} AS found
     FROM api_keys k
     JOIN roles r ON r.workspace_id = k.workspace_id AND r.id = k.role_id
     JOIN workspaces w ON w.id = k.workspace_id
     WHERE k.key_hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`,
  );

const inTable = (table: string): string =>
  `EXISTS (SELECT FROM ${table} t WHERE t.workspace_id = k.workspace_id AND t.id = $2)`;

const STATEMENTS = {
  workspace: findKey('find_key_workspace', 'k.workspace_id = $2'),
  article: findKey('find_key_article', inTable('articles')),
  project: findKey('find_key_project', inTable('projects')),
  job: findKey('find_key_job', inTable('jobs')),
} as const satisfies Record<Exclude<PathResource, 'caller'>, unknown>;
const findKeyAlone = findKey('find_key', 'true');

/** The permission sets of the built-in roles, which most keys have. */
const builtIn: ReadonlyMap<string, ReadonlySet<Permission>> = new Map(
  Object.values(BUILT_IN_ROLES).map(({ name, permissions }) => [name, new Set(permissions)]),
);

const permissionsIn = ({ built_in, role_name, permissions }: KeyRow): ReadonlySet<Permission> =>
  (built_in ? builtIn.get(role_name) : undefined) ?? new Set(permissions.split(' ').filter(isPermission));

const BEARER = /^Bearer +([^\s]+) *$/i;

/**
 * The hash of the key in an Authorization header, checked without a query.
 * @throws {ServiceError} UNAUTHENTICATED when it is missing, or its form or checksum is wrong
 */
function readKeyHash(authorization: string | null): Buffer {
  if (authorization === null) {
    throw new ServiceError('UNAUTHENTICATED', 'Send an API key as Authorization: Bearer <API_KEY>.');
  }
  const hash = parseKey(BEARER.exec(authorization)?.[1] ?? '');
  if (hash === null) throw keyRefused();
  return hash;
}

const NOTHING_NAMED: NamedResource = { scope: 'caller' };

/**
 * The key's actor with its role's permissions, and whether the named resource belongs to its workspace, in one
 * statement and without a cache: a revoked key or an edited role counts from the next request on, in every process.
 * @throws {ServiceError} UNAUTHENTICATED when the key is unknown, revoked or expired
 */
export async function authenticate(
  db: Database,
  hash: Buffer,
  named: NamedResource = NOTHING_NAMED,
): Promise<Identified> {
  const id = named.scope === 'caller' ? null : named.id;
  const [row] =
    named.scope === 'caller' || id === null
      ? await findKeyAlone(db, hash)
      : await STATEMENTS[named.scope](db, hash, id);
  if (row === undefined) throw keyRefused();
  const actor: KeyActor = {
    kind: 'api_key',
    keyId: row.id,
    keyPrefix: row.prefix,
    workspaceId: row.workspace_id,
    workspaceName: row.workspace_name,
    roleId: row.role_id,
    roleName: row.role_name,
    permissions: permissionsIn(row),
    needed: new Set(),
  };
  return { actor, found: named.scope === 'caller' || (id !== null && row.found) };
}

/** Identifies callers by their keys; records when each key was last used. */
export const createIdentify =
  (db: Database, lastUsed: LastUsedRecorder): Identify =>
  async (authorization, named) => {
    const identified = await authenticate(db, readKeyHash(authorization), named);
    lastUsed.record(identified.actor.keyId);
    return identified;
  };
