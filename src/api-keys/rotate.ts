import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { notFound, ServiceError } from '../errors.ts';
import { type ApiKeyId, newId } from '../ids.ts';
import { requireGrantable } from '../roles/grant.ts';
import { lockRoleForGrant } from '../roles/queries.ts';
import type { CreatedApiKey } from './create.ts';
import { generateKey } from './key-format.ts';
import { insertApiKey, lockUnrevokedKey, revokeKey } from './queries.ts';
import { rethrowRoleDeleted, roleDeleted } from './role-deleted.ts';

/**
 * Replaces a key by one with the same label, role and expiry, in one transaction: of several rotations
 * at once exactly one wins, the others find a revoked key (interface.md, API keys, rotate).
 * @throws {ServiceError} in this order: RESOURCE_NOT_FOUND for an unknown, revoked or foreign key,
 * CONFLICT `role_deleted`, INVALID_REQUEST for an expired key, FORBIDDEN for a role broader than the caller
 */
export async function rotateApiKey(context: VerbContext, oldId: ApiKeyId): Promise<CreatedApiKey> {
  const { db, actor } = context;
  requirePermissions(actor, 'api_keys.create', 'api_keys.revoke');
  const { workspaceId } = actor;
  const id = newId<ApiKeyId>();
  const { key, prefix, hash } = generateKey();
  const label = await inTransaction(db, async (tx) => {
    const old = await lockUnrevokedKey(tx, workspaceId, oldId);
    if (old === undefined) throw notFound('API key');
    if (old.role_id === null) throw roleDeleted();
    if (old.expired) {
      throw new ServiceError('INVALID_REQUEST', 'The key has expired. Create a new one instead.');
    }
    const held = await lockRoleForGrant(tx, workspaceId, old.role_id);
    if (held === null) throw roleDeleted();
    requireGrantable(actor, held);
    await revokeKey(tx, workspaceId, oldId);
    await insertApiKey(tx, {
      id,
      workspaceId,
      roleId: old.role_id,
      label: old.label,
      prefix,
      hash,
      expiresAt: old.expires_at,
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
        roleId: old.role_id,
        expiresAt: old.expires_at?.toISOString() ?? null,
        rotatedFrom: oldId,
      },
    });
    return old.label;
  }).catch(rethrowRoleDeleted);
  return { apiKey: { id, prefix, label }, key };
}
