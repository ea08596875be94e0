import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { notFound } from '../errors.ts';
import type { ApiKeyId } from '../ids.ts';
import { revokeKey } from './queries.ts';

/**
 * Ends a key for good: it stops authenticating with the commit and stays in the list. An expired key can be revoked
 * too.
 * @throws {ServiceError} RESOURCE_NOT_FOUND for an unknown, foreign or already revoked key
 */
export async function revokeApiKey(context: VerbContext, id: ApiKeyId): Promise<void> {
  const { db, actor } = context;
  requirePermissions(actor, 'api_keys.revoke');
  await inTransaction(db, async (tx) => {
    if (!(await revokeKey(tx, actor.workspaceId, id))) throw notFound('API key');
    await recordAudit(tx, context, { action: 'api_keys.revoked', targetType: 'api_key', targetId: id });
  });
}
