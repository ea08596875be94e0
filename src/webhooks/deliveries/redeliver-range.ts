import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { Tx } from '../../db/database.ts';
import { afterCommit, inTransaction } from '../../db/transaction.ts';
import { deliveriesStored } from '../../events/stored.ts';
import { iso } from '../../fields.ts';
import { decodeCursor, encodeCursor } from '../../http/paging.ts';
import type { DeliveryId, EndpointId } from '../../ids.ts';
import { redeliverMissed } from '../backlog/redeliver-missed.ts';
import { requireFewOpen } from '../backlog/require-few-open.ts';
import { lockActiveEndpoint } from '../endpoints/queries.ts';
import type { RangeRedelivery } from '../schemas.ts';
import { insertRedeliveries } from './insert-redeliveries.ts';

/**
 * Queues a new delivery for every event whose latest delivery to the endpoint was queued in a time and has failed for good, or
 * succeeded, or a first one for those that were missed: the oldest 10,000. The cursor goes on with the rest (contract.md W13,
 * W17, W71 and W104).
 * @throws {ServiceError} RESOURCE_NOT_FOUND, CONFLICT `endpoint_disabled`, RATE_LIMITED while very many deliveries are open, or
 *   INVALID_REQUEST for text that is no cursor
 */
export async function redeliverRange(
  context: VerbContext,
  endpointId: EndpointId,
  range: RangeRedelivery,
): Promise<{ count: number; nextCursor: string | null }> {
  const { db, actor } = context;
  requirePermissions(actor, 'integrations.create');
  const { workspaceId } = actor;
  return inTransaction(db, async (tx) => {
    await lockActiveEndpoint(tx, workspaceId, endpointId);
    if (!range.dryRun) await requireFewOpen(tx, endpointId);
    const redelivered = await queueAgain(tx, { workspaceId, endpointId }, range);
    if (!range.dryRun) {
      const { count } = redelivered;
      if (count > 0) afterCommit(tx, deliveriesStored.notify);
      const { since, until = null, events = null, status } = range;
      await recordAudit(tx, context, {
        action: 'webhooks.redelivered',
        targetType: 'webhook_endpoint',
        targetId: endpointId,
        details: { since: iso(since), until: iso(until), events, status, count },
      });
    }
    return redelivered;
  });
}

async function queueAgain(
  tx: Tx,
  place: Parameters<typeof insertRedeliveries>[1],
  { cursor, dryRun: isDry, status, ...range }: RangeRedelivery,
): Promise<{ count: number; nextCursor: string | null }> {
  if (status === 'missed') return redeliverMissed(tx, place, range, { cursor, isDry });
  const after = decodeCursor<DeliveryId>(cursor, '/cursor');
  const { count, next } = await insertRedeliveries(tx, place, { ...range, status }, { after, isDry });
  return { count, nextCursor: next && encodeCursor(next) };
}
