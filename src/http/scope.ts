import type { KeyActor } from '../context.ts';
import { notFound } from '../errors.ts';
import { parseId } from '../ids.ts';
import { type PathResource, SCOPE_PARAMETERS } from './route.ts';

/** The resource that a path names; `id` is null for text that cannot be an id. */
export type NamedResource =
  | { readonly scope: 'caller' }
  | { readonly scope: Exclude<PathResource, 'caller'>; readonly id: string | null };

/** The caller, and whether the named resource is theirs. */
export interface Identified {
  readonly actor: KeyActor;
  readonly found: boolean;
  /** Bytes of the named article as stored; 0 for anything else. */
  readonly articleBytes: number;
  /** Whether an operator has suspended the caller's workspace. */
  readonly suspended: boolean;
}

/** Recognises API keys. */
export interface Keys {
  /**
   * The hash of the key in an Authorization header, without a query.
   * @throws {ServiceError} UNAUTHENTICATED when it is missing, or its form or checksum is wrong
   */
  readonly read: (authorization: string | null) => Buffer;
  /**
   * The caller with this key.
   * @throws {ServiceError} UNAUTHENTICATED when the key is unknown, revoked or expired
   */
  readonly find: (hash: Buffer, named: NamedResource) => Promise<Identified>;
}

/** What the path names, with its id in canonical form. */
export function namedResource(scope: PathResource, params: Readonly<Record<string, string>>): NamedResource {
  return scope === 'caller' ? { scope } : { scope, id: parseId(params[SCOPE_PARAMETERS[scope]] ?? '') };
}

/** The path's parameters with the named resource's id in canonical form. */
export function scopedParams(
  named: NamedResource,
  params: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (named.scope === 'caller' || named.id === null) return params;
  return { ...params, [SCOPE_PARAMETERS[named.scope]]: named.id };
}

/**
 * A further id of the path, with its kind in words: `pathId<RoleId>(params.roleId, 'role')`.
 * @throws {ServiceError} RESOURCE_NOT_FOUND for text that is not an id
 */
export function pathId<Id extends string>(text: string, what: string): Id {
  const id = parseId<Id>(text);
  if (id === null) throw notFound(what);
  return id;
}
