import type { z } from 'zod';
import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict, notFound } from '../errors.ts';
import type { RoleId } from '../ids.ts';
import { holdKey, holdRoles, requireGrantable } from './authority.ts';
import { rethrowNameTaken, updateRoleRow } from './queries.ts';
import type { RoleItem, updateRoleBody } from './schemas.ts';

/**
 * Renames a role, replaces its permissions, or both. Keys of the role follow from their next request on.
 * @throws {ServiceError} RESOURCE_NOT_FOUND, FORBIDDEN when the new set holds permissions the caller lacks, CONFLICT
 *   `built_in_role` or `name_taken`, UNAUTHENTICATED when the caller's key has ended
 */
export async function updateRole(
  context: VerbContext,
  id: RoleId,
  input: z.output<typeof updateRoleBody>,
): Promise<RoleItem> {
  const { db, actor } = context;
  requirePermissions(actor, 'roles.update');
  const { name } = input;
  const permissions = input.permissions && [...new Set(input.permissions)].sort();
  return inTransaction(db, async (tx) => {
    await holdKey(tx, actor);
    const held = await holdRoles(tx, actor, ['roles.update'], { id, purpose: 'change' });
    const { role } = held;
    if (role === undefined) throw notFound('role');
    requireGrantable(held.actor, permissions ?? []);
    if (role.built_in) throw conflict('A built-in role cannot be edited.', 'built_in_role');
    const updated = await updateRoleRow(tx, actor.workspaceId, id, { name, permissions });
    await recordAudit(tx, context, {
      action: 'roles.updated',
      targetType: 'role',
      targetId: id,
      details: {
        before: { name: role.name, permissions: role.permissions.toSorted() },
        after: { name: updated.name, permissions: updated.permissions },
      },
    });
    return updated;
  }).catch(rethrowNameTaken);
}
