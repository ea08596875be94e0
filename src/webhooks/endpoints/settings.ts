import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { EndpointId } from '../../ids.ts';
import type { EndpointSettings } from '../schemas.ts';
import type { SecretRing } from '../secrets/ring.ts';
import { changeCredentials } from './change-credentials.ts';
import { noSuchEndpoint } from './queries.ts';
import { type ShownEndpoint, selectEndpoint } from './show.ts';

/**
 * Replaces the settings of an endpoint (contract.md W65). Custom headers that the body leaves out stay: their values
 * can't be read back.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; SERVICE_UNAVAILABLE when headers are given and what is stored can't be read
 */
export async function putSettings(
  context: VerbContext & { readonly secrets: SecretRing },
  endpointId: EndpointId,
  { description, rateLimit, headers }: EndpointSettings,
): Promise<ShownEndpoint> {
  const { db, actor, secrets } = context;
  requirePermissions(actor, 'integrations.create');
  const { workspaceId } = actor;
  return inTransaction(db, async (tx) => {
    await tx
      .updateTable('webhook_endpoints')
      .set({ description, rate_limit: rateLimit })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', endpointId)
      .where('deleted_at', 'is', null)
      .returning('id')
      .executeTakeFirstOrThrow(noSuchEndpoint);
    if (headers !== undefined) {
      await changeCredentials(tx, secrets, { workspaceId, endpointId }, ({ credentials }) => ({
        ...credentials,
        headers,
      }));
    }
    const endpoint = await selectEndpoint(tx, workspaceId, endpointId);
    await recordAudit(tx, context, {
      action: 'webhooks.settings_updated',
      targetType: 'webhook_endpoint',
      targetId: endpointId,
      details: { rateLimit, headers: endpoint.headers },
    });
    return endpoint;
  });
}
