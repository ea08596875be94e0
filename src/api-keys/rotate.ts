import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { notFound, ServiceError } from '../errors.ts';
import { type ApiKeyId, newId } from '../ids.ts';
import { permissionsOf } from '../permissions.ts';
import { holdKey, holdRoles, requireGrantable } from '../roles/authority.ts';
import type { CreatedApiKey } from './create.ts';
import { generateKey } from './key-format.ts';
import { insertApiKey, requireRoom, rethrowRoleDeleted, revokeKey, roleDeleted } from './queries.ts';

/**
 * Replaces a key by one with the same label, role and expiry, in one transaction: of several concurrent rotations
 * exactly one wins, the others find a revoked key (contract.md K9 to K11).
 * @throws {ServiceError} in this order: UNAUTHENTICATED when the caller's key has ended, RESOURCE_NOT_FOUND for an
 *   unknown, revoked or foreign key, CONFLICT `role_deleted`, INVALID_REQUEST for an expired key, FORBIDDEN for a role
 *   broader than the caller, CONFLICT `key_limit`
 */
export async function rotateApiKey(context: VerbContext, oldId: ApiKeyId): Promise<CreatedApiKey> {
  const { db, actor } = context;
  requirePermissions(actor, 'api_keys.create', 'api_keys.revoke');
  const { workspaceId } = actor;
  const id = newId<ApiKeyId>();
  const { key, prefix, hash } = generateKey();
  const label = await inTransaction(db, async (tx) => {
    const old = await holdKey(tx, actor, oldId);
    if (old === undefined || old.revoked) throw notFound('API key');
    if (old.roleId === null) throw roleDeleted();
    if (old.expired) {
      throw new ServiceError('INVALID_REQUEST', 'The key has expired. Create a new one instead.');
    }
    const { roleId, expiresAt } = old;
    const target = { id: roleId, purpose: 'grant' } as const;
    const held = await holdRoles(tx, actor, ['api_keys.create', 'api_keys.revoke'], target);
    if (held.role === undefined) throw roleDeleted();
    requireGrantable(held.actor, permissionsOf(held.role));
    await requireRoom(tx, workspaceId, 'rotate');
    await revokeKey(tx, workspaceId, oldId);
    await insertApiKey(tx, {
      id,
      workspaceId,
      roleId,
      label: old.label,
      prefix,
      hash,
      expiresAt,
    });
    await recordAudit(tx, context, {
      action: 'api_keys.revoked',
      targetType: 'api_key',
      targetId: oldId,
      details: { rotatedTo: id },
    });
    await recordAudit(tx, context, {
      action: 'api_keys.created',
      targetType: 'api_key',
      targetId: id,
      details: {
        label: old.label,
        prefix,
        roleId,
        expiresAt: expiresAt?.toISOString() ?? null,
        rotatedFrom: oldId,
      },
    });
    return old.label;
  }).catch(rethrowRoleDeleted);
  return { apiKey: { id, prefix, label }, key };
}
