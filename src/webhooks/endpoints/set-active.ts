import { recordAudit } from '../../audit/record.ts';
import { requireOperator, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { EndpointId } from '../../ids.ts';
import { beginAnew } from '../health/disable-failing.ts';
import { requireEndpoint } from './queries.ts';

/**
 * Disables or enables an endpoint. Nothing is queued for a disabled one, and its waiting deliveries end as failed when
 * they are due; one that was paused is not paused any more. Setting the present state changes nothing.
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
      .set(active ? { active, disabled_for: null } : { active, disabled_for: 'operator', paused_at: null })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', endpointId)
      .where('deleted_at', 'is', null)
      // One that was disabled for failing becomes the operator's.
      .where((eb) =>
        active
          ? eb('active', '=', false)
          : eb.or([eb('active', '=', true), eb('disabled_for', '=', 'failing')]),
      )
      .executeTakeFirst();
    if (numUpdatedRows === 0n) {
      await requireEndpoint(tx, actor.workspaceId, endpointId);
      return;
    }
    if (active) await beginAnew(tx, endpointId);
    await recordAudit(tx, context, {
      action: active ? 'webhooks.enabled' : 'webhooks.disabled',
      targetType: 'webhook_endpoint',
      targetId: endpointId,
    });
  });
}
