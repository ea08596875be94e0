import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { afterCommit, inTransaction } from '../../db/transaction.ts';
import { deliveriesStored } from '../../events/stored.ts';
import { iso } from '../../fields.ts';
import type { EndpointId } from '../../ids.ts';
import { lockActiveEndpoint } from '../endpoints/queries.ts';
import { insertRedeliveriesOfFailed } from './queries.ts';

/** Deliveries that one request queues. */
const MAX_QUEUED = 10_000;

/**
 * Queues a new delivery for every event whose latest delivery to the endpoint failed for good and was queued at `since`
 * or later: the oldest 10,000. A repeat continues with the rest (contract.md W13 and W17).
 * @throws {ServiceError} RESOURCE_NOT_FOUND, or CONFLICT `endpoint_disabled`
 */
export async function redeliverFailed(
  context: VerbContext,
  { endpointId, since }: { readonly endpointId: EndpointId; readonly since: Date },
): Promise<{ count: number }> {
  const { db, actor } = context;
  requirePermissions(actor, 'integrations.create');
  return inTransaction(db, async (tx) => {
    await lockActiveEndpoint(tx, actor.workspaceId, endpointId);
    const count = await insertRedeliveriesOfFailed(tx, actor.workspaceId, endpointId, since, MAX_QUEUED);
    if (count > 0) afterCommit(tx, deliveriesStored.notify);
    await recordAudit(tx, context, {
      action: 'webhooks.redelivered',
      targetType: 'webhook_endpoint',
      targetId: endpointId,
      details: { since: iso(since), count },
    });
    return { count };
  });
}
