import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import { requireOperator, requirePermissions, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import { conflict } from '../../errors.ts';
import type { DeliveryId, EndpointId } from '../../ids.ts';
import { requireEndpoint } from '../endpoints/queries.ts';
import type { RunCanceller } from '../endpoints/run-canceller.ts';
import { endOne, endSome } from './end.ts';
import { type DeliveryItem, noSuchDelivery, selectSummary } from './queries.ts';

/** The errorMessage of a cancelled delivery. */
const CANCELLED = 'cancelled';

type Context = VerbContext & { readonly runCanceller: Pick<RunCanceller, 'cancel'> };

/**
 * Ends an open delivery as failed, whoever holds it; its attempts stay (integrations.delete; contract.md W14). An attempt
 * in flight may still arrive. Its run is cancelled afterwards, which only saves work.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `delivery_ended`
 */
export async function cancelDelivery(context: Context, deliveryId: DeliveryId): Promise<DeliveryItem> {
  const { db, actor, runCanceller } = context;
  requirePermissions(actor, 'integrations.delete');
  const delivery = await inTransaction(db, async (tx) => {
    const found = await selectSummary(tx, actor.workspaceId, deliveryId);
    if (found === undefined) throw noSuchDelivery();
    if (!(await endOne(tx, deliveryId, CANCELLED))) {
      throw conflict('The delivery has ended.', 'delivery_ended');
    }
    await recordAudit(tx, context, {
      action: 'webhooks.cancelled',
      targetType: 'webhook_delivery',
      targetId: deliveryId,
      details: { endpointId: found.endpointId },
    });
    return selectSummary(tx, actor.workspaceId, deliveryId);
  });
  if (delivery === undefined) throw noSuchDelivery();
  runCanceller.cancel([deliveryId]);
  return delivery;
}

/**
 * Cancels all deliveries of an endpoint that are open now, a thousand per transaction, each with an audit entry. Rows
 * locked by others are retried once at the end.
 * @returns how many were ended
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function cancelAllDeliveries(context: Context, endpointId: EndpointId): Promise<number> {
  const { db, actor, runCanceller } = context;
  requireOperator(actor);
  await requireEndpoint(db, actor.workspaceId, endpointId);
  const { rows } = await sql<{ now: Date }>`SELECT now()`.execute(db);
  const begin = rows[0]?.now ?? new Date();
  let count = 0;
  for (let idle = 0; idle < 2; ) {
    const ended = await inTransaction(db, async (tx) => {
      const batch = await endSome(tx, endpointId, begin, CANCELLED);
      if (batch.length > 0) {
        await recordAudit(tx, context, {
          action: 'webhooks.cancelled',
          targetType: 'webhook_endpoint',
          targetId: endpointId,
          details: { count: batch.length },
        });
      }
      return batch;
    });
    runCanceller.cancel(ended.filter(({ inRun }) => inRun).map(({ id }) => id));
    count += ended.length;
    idle = ended.length === 0 ? idle + 1 : 0;
  }
  return count;
}
