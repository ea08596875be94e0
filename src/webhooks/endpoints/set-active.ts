import { recordAudit } from '../../audit/record.ts';
import { requireOperator, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { EndpointId } from '../../ids.ts';
import { requireEndpoint } from './queries.ts';

/**
 * Disables or enables an endpoint. Nothing is queued for a disabled one, and its waiting deliveries end as failed when
 * they are due. Setting the present state changes nothing.
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function setEndpointActive(
  context: VerbContext,
  { endpointId, active }: { endpointId: EndpointId; active: boolean },
): Promise<void> {
  const { db, actor } = context;
  requireOperator(actor);
  await inTransaction(db, async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('webhook_endpoints')
      .set({ active })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', endpointId)
      .where('deleted_at', 'is', null)
      .where('active', '!=', active)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) {
      await requireEndpoint(tx, actor.workspaceId, endpointId);
      return;
    }
    await recordAudit(tx, context, {
      action: active ? 'webhooks.enabled' : 'webhooks.disabled',
      targetType: 'webhook_endpoint',
      targetId: endpointId,
    });
  });
}
