import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { afterCommit, inTransaction } from '../../db/transaction.ts';
import { deliveriesStored } from '../../events/stored.ts';
import { iso } from '../../fields.ts';
import type { EndpointId } from '../../ids.ts';
import { lockActiveEndpoint } from '../endpoints/queries.ts';
import { insertRedeliveriesOfFailed } from './queries.ts';

/** Deliveries that one request queues at most. */
const MOST = 10_000;

/**
 * Sends every event once more whose latest delivery to the endpoint has failed for good: a new delivery each,
 * 10,000 at most, the oldest first, of those queued at `since` or later. Asking again goes on with the rest.
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
    const count = await insertRedeliveriesOfFailed(tx, actor.workspaceId, endpointId, since, MOST);
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
