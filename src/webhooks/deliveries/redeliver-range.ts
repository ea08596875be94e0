import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { afterCommit, inTransaction } from '../../db/transaction.ts';
import { deliveriesStored } from '../../events/stored.ts';
import { iso } from '../../fields.ts';
import { decodeCursor, encodeCursor } from '../../http/paging.ts';
import type { DeliveryId, EndpointId } from '../../ids.ts';
import { lockActiveEndpoint } from '../endpoints/queries.ts';
import type { RangeRedelivery } from '../schemas.ts';
import { insertRedeliveries } from './insert-redeliveries.ts';

/**
 * Queues a new delivery for every event whose latest delivery to the endpoint was queued in a time and has failed for good, or
 * succeeded: the oldest 10,000. The cursor goes on with the rest (contract.md W13, W17 and W71).
 * @throws {ServiceError} RESOURCE_NOT_FOUND, CONFLICT `endpoint_disabled`, or INVALID_REQUEST for text that is no cursor
 */
export async function redeliverRange(
  context: VerbContext,
  endpointId: EndpointId,
  { cursor, dryRun: isDry, ...range }: RangeRedelivery,
): Promise<{ count: number; nextCursor: string | null }> {
  const { db, actor } = context;
  requirePermissions(actor, 'integrations.create');
  const { workspaceId } = actor;
  const after = decodeCursor<DeliveryId>(cursor, '/cursor');
  return inTransaction(db, async (tx) => {
    await lockActiveEndpoint(tx, workspaceId, endpointId);
    const place = { workspaceId, endpointId };
    const { count, next } = await insertRedeliveries(tx, place, range, { after, isDry });
    if (!isDry) {
      if (count > 0) afterCommit(tx, deliveriesStored.notify);
      const { since, until = null, events = null, status } = range;
      await recordAudit(tx, context, {
        action: 'webhooks.redelivered',
        targetType: 'webhook_endpoint',
        targetId: endpointId,
        details: { since: iso(since), until: iso(until), events, status, count },
      });
    }
    return { count, nextCursor: next && encodeCursor(next) };
  });
}
