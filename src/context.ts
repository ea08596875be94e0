import type { Database } from './db/database.ts';
import { ServiceError } from './errors.ts';
import type { ApiKeyId, JobId, RoleId, WorkspaceId } from './ids.ts';
import type { Permission } from './permissions.ts';

/** Who acts: a key with its role's permissions as of this request, or the operator at the command line. */
export type Actor =
  | {
      readonly kind: 'api_key';
      readonly keyId: ApiKeyId;
      readonly keyPrefix: string;
      readonly workspaceId: WorkspaceId;
      readonly workspaceName: string;
      readonly roleId: RoleId;
      readonly roleName: string;
      readonly permissions: ReadonlySet<Permission>;
      /** Those that this request has needed so far: its transactions look for them again. */
      readonly needed: Set<Permission>;
      /** The workspace's own limits, requests a minute; null where the configured one holds. */
      readonly requestsPerKey: number | null;
      readonly requestsPerWorkspace: number | null;
    }
  | {
      readonly kind: 'operator';
      readonly workspaceId: WorkspaceId;
      /** Who it is, for the operators' log; absent for the service itself, which makes the workspace of a first start. */
      readonly name?: string;
    };

/** An authenticated key. */
export type KeyActor = Extract<Actor, { kind: 'api_key' }>;

/**
 * The first parameter of every verb. `requestId` links the response, the log, the audit entry and the workflow memo.
 */
export interface VerbContext {
  readonly db: Database;
  readonly actor: Actor;
  readonly requestId: string;
}

/** The origin of an event or a rendering: a request in a workspace. */
export interface Origin {
  readonly actor: { readonly workspaceId: WorkspaceId };
  readonly requestId: string;
}

/** The author of a change: the actor of a request, or the service itself, for a job or by its own rules. */
export interface Author extends Origin {
  readonly actor:
    | Actor
    | { readonly kind: 'system'; readonly workspaceId: WorkspaceId; readonly jobId?: JobId };
  readonly requestId: string;
}

/** The permissions that the actor lacks, sorted. */
function missingPermissions(actor: Actor, wanted: Iterable<Permission>): Permission[] {
  if (actor.kind === 'operator') return [];
  return [...new Set(wanted)].filter((permission) => !actor.permissions.has(permission)).sort();
}

/**
 * The first line of every verb.
 * @throws {ServiceError} FORBIDDEN with `details.permissions` (contract.md A2)
 */
export function requirePermissions(actor: Actor, ...wanted: Permission[]): void {
  const permissions = missingPermissions(actor, wanted);
  if (permissions.length > 0) throw lacksPermissions(permissions);
  if (actor.kind === 'api_key') for (const permission of wanted) actor.needed.add(permission);
}

/** 403 naming the permissions that a key's role lacks. */
export const lacksPermissions = (permissions: readonly string[]): ServiceError =>
  new ServiceError('FORBIDDEN', `The key's role lacks ${permissions.join(', ')}.`, {
    details: { permissions },
  });

/**
 * The first line of a verb of the command line alone, such as granting credits.
 * @throws {ServiceError} FORBIDDEN for every key, whatever its role
 */
export function requireOperator(actor: Actor): void {
  if (actor.kind !== 'operator') throw new ServiceError('FORBIDDEN', 'Only the operator may do this.');
}
