import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict, notFound } from '../errors.ts';
import type { RoleId } from '../ids.ts';
import { hasLiveKey, lockRole } from './queries.ts';

/**
 * Deletes a role. Its expired and revoked keys stay listed without a role. The row is locked before live keys are
 * looked for, so no key can be created with the role in between.
 * @throws {ServiceError} RESOURCE_NOT_FOUND, CONFLICT `built_in_role`, or `role_in_use` by a live key
 */
export async function deleteRole(context: VerbContext, id: RoleId): Promise<void> {
  const { db, actor } = context;
  requirePermissions(actor, 'roles.delete');
  await inTransaction(db, async (tx) => {
    const role = await lockRole(tx, actor.workspaceId, id, 'change');
    if (role === undefined) throw notFound('role');
    if (role.built_in) throw conflict('A built-in role cannot be deleted.', 'built_in_role');
    if (await hasLiveKey(tx, actor.workspaceId, id)) {
      throw conflict('An active key has this role. Revoke it first.', 'role_in_use');
    }
    await tx.deleteFrom('roles').where('workspace_id', '=', actor.workspaceId).where('id', '=', id).execute();
    await recordAudit(tx, context, {
      action: 'roles.deleted',
      targetType: 'role',
      targetId: id,
      details: { name: role.name },
    });
  });
}
