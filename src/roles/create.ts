import type { z } from 'zod';
import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { newId, type RoleId } from '../ids.ts';
import { holdKey, holdRoles, requireGrantable } from './authority.ts';
import { insertRole, requireRoom, rethrowNameTaken } from './queries.ts';
import type { createRoleBody, RoleItem } from './schemas.ts';

/**
 * Adds a role with some of the permissions the caller holds.
 * @throws {ServiceError} FORBIDDEN for permissions the caller lacks, CONFLICT `name_taken` or `role_limit`,
 *   UNAUTHENTICATED when the caller's key has ended
 */
export async function createRole(
  context: VerbContext,
  input: z.output<typeof createRoleBody>,
): Promise<RoleItem> {
  const { db, actor } = context;
  requirePermissions(actor, 'roles.create');
  requireGrantable(actor, input.permissions);
  const permissions = [...new Set(input.permissions)].sort();
  return inTransaction(db, async (tx) => {
    const { workspaceId } = actor;
    await holdKey(tx, actor);
    requireGrantable((await holdRoles(tx, actor, ['roles.create'])).actor, permissions);
    await requireRoom(tx, workspaceId);
    const role = await insertRole(tx, {
      id: newId<RoleId>(),
      workspaceId,
      name: input.name,
      permissions,
      builtIn: false,
    });
    await recordAudit(tx, context, {
      action: 'roles.created',
      targetType: 'role',
      targetId: role.id,
      details: { name: role.name, permissions },
    });
    return role;
  }).catch(rethrowNameTaken);
}
