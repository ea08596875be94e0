import type { z } from 'zod';
import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { invalid } from '../errors.ts';
import { type ApiKeyId, newId } from '../ids.ts';
import { permissionsOf } from '../permissions.ts';
import { holdKey, holdRoles, requireGrantable } from '../roles/authority.ts';
import { hasRole } from '../roles/queries.ts';
import { generateKey } from './key-format.ts';
import { insertApiKey, requireRoom, rethrowRoleDeleted, roleDeleted } from './queries.ts';
import type { createApiKeyBody, createdApiKeySchema } from './schemas.ts';

/** `expiresAt` is not compared with the clock: a past time gives an expired key. */
export type CreateApiKeyInput = z.output<typeof createApiKeyBody>;

/** A new key. `key` is the raw key, which the service does not keep. */
export type CreatedApiKey = z.output<typeof createdApiKeySchema>;

/**
 * Creates a key with a role of the workspace (contract.md K4 to K7 and K16).
 * @throws {ServiceError} INVALID_REQUEST for a role the workspace does not have, FORBIDDEN for one broader than the
 *   caller, CONFLICT `role_deleted` when it was deleted concurrently or `key_limit`, UNAUTHENTICATED when the caller's
 *   key has ended
 */
export async function createApiKey(context: VerbContext, input: CreateApiKeyInput): Promise<CreatedApiKey> {
  const { db, actor } = context;
  requirePermissions(actor, 'api_keys.create');
  const { workspaceId } = actor;
  const { label, roleId, expiresAt } = input;
  const id = newId<ApiKeyId>();
  const { key, prefix, hash } = generateKey();
  await inTransaction(db, async (tx) => {
    await holdKey(tx, actor);
    const known = await hasRole(tx, workspaceId, roleId);
    const held = await holdRoles(tx, actor, ['api_keys.create'], { id: roleId, purpose: 'grant' });
    if (held.role === undefined) {
      throw known ? roleDeleted() : invalid('/roleId', 'The workspace has no such role.');
    }
    requireGrantable(held.actor, permissionsOf(held.role));
    await requireRoom(tx, workspaceId, 'create');
    await insertApiKey(tx, { id, workspaceId, roleId, label, prefix, hash, expiresAt: expiresAt ?? null });
    await recordAudit(tx, context, {
      action: 'api_keys.created',
      targetType: 'api_key',
      targetId: id,
      details: { label, prefix, roleId, expiresAt: expiresAt?.toISOString() ?? null },
    });
  }).catch(rethrowRoleDeleted);
  return { apiKey: { id, prefix, label }, key };
}
