import { type Actor, lacksPermissions } from '../context.ts';
import type { Database } from '../db/database.ts';
import { databaseError } from '../db/errors.ts';
import { guarded } from '../db/guard.ts';
import { firstStatement } from '../db/prepared.ts';
import { keyRefused, notFound, type ServiceError } from '../errors.ts';

/**
 * What ends a transaction whose caller has lost its authority, by the SQLSTATE that `refuse` raises. Everything that can
 * take authority from a request while it is under way has its line here and its WHEN below.
 */
const REFUSALS: Readonly<Record<string, (reason: string) => ServiceError>> = {
  WC401: keyRefused,
  WC403: (permissions) => lacksPermissions(permissions.split(' ')),
  WC404: (id) => notFound(`workspace ${id}`),
};

/**
 * Primary keys only, and no lock: whoever takes authority away waits for no request, and a request that began before
 * may commit. A built-in role has its permissions from the code, so no edit takes one away.
 */
const checkKey = firstStatement(
  'present_authority',
  `SELECT CASE
     WHEN r.id IS NULL THEN refuse('WC401', '')
     WHEN NOT (r.built_in OR r.permissions @> $3::text[]) THEN
       refuse('WC403', array_to_string(ARRAY(SELECT unnest($3::text[]) EXCEPT SELECT unnest(r.permissions) ORDER BY 1), ' '))
   END
   FROM (VALUES (1)) one
   LEFT JOIN (
     workspaces w
     JOIN api_keys k ON k.workspace_id = w.id AND k.id = $2
     JOIN roles r ON r.workspace_id = k.workspace_id AND r.id = k.role_id
   ) ON w.id = $1 AND w.deleted_at IS NULL
     AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`,
);

const checkWorkspace = firstStatement(
  'present_workspace',
  `SELECT CASE WHEN w.id IS NULL THEN refuse('WC404', $1::text) END
   FROM (VALUES (1)) one LEFT JOIN workspaces w ON w.id = $1::uuid AND w.deleted_at IS NULL`,
);

const explain = (error: unknown): unknown => {
  const raised = databaseError(error);
  return (raised?.code && REFUSALS[raised.code]?.(raised.detail ?? '')) ?? error;
};

/**
 * The database for a request of the actor: each transaction begins by reading its authority again, as a request may have
 * been authenticated long before its body arrived (contract.md A40 and A42). What began after a revocation was committed
 * is UNAUTHENTICATED when the key has ended or the workspace is deleted, FORBIDDEN when the role lacks a permission that
 * the request has needed; for the operator RESOURCE_NOT_FOUND in a deleted workspace.
 */
export const withAuthority = (db: Database, actor: Actor): Database =>
  guarded(db, {
    check: (tx) =>
      actor.kind === 'operator'
        ? checkWorkspace(tx, actor.workspaceId)
        : checkKey(tx, actor.workspaceId, actor.keyId, [...actor.needed]),
    explain,
  });
