import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import { requireOperator, requirePermissions, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import { conflict } from '../../errors.ts';
import type { DeliveryId, EndpointId } from '../../ids.ts';
import { requireEndpoint } from '../endpoints/queries.ts';
import type { RunCanceller } from '../endpoints/run-canceller.ts';
import { endOpen } from './end.ts';
import { type DeliveryItem, noSuchDelivery, selectSummary } from './queries.ts';

/** What a cancelled delivery says of its end. */
const CANCELLED = 'cancelled';
/** Deliveries that one transaction ends. */
const BATCH = 1_000;

type Context = VerbContext & { readonly runCanceller: Pick<RunCanceller, 'cancel'> };

/**
 * Ends a delivery that has not ended as failed, whoever has it, its attempts unchanged (integrations.delete). An attempt
 * that is under way may still arrive. Its run is cancelled afterwards, which only saves work.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `delivery_ended`
 */
export async function cancelDelivery(context: Context, deliveryId: DeliveryId): Promise<DeliveryItem> {
  const { db, actor, runCanceller } = context;
  requirePermissions(actor, 'integrations.delete');
  const delivery = await inTransaction(db, async (tx) => {
    // Waits for whoever works on the row at this moment.
    await tx
      .selectFrom('webhook_open')
      .select('id')
      .where('id', '=', deliveryId)
      .where('workspace_id', '=', actor.workspaceId)
      .forUpdate()
      .execute();
    const found = await selectSummary(tx, actor.workspaceId, deliveryId);
    if (found === undefined) throw noSuchDelivery();
    const [ended] = await endOpen(tx, [deliveryId], CANCELLED);
    if (ended === undefined) throw conflict('The delivery has ended.', 'delivery_ended');
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
 * Does the same to all deliveries of an endpoint that are open when it is called, a thousand a transaction, each with
 * its audit entry. Those that somebody works on are looked for once more at the end.
 * @returns how many were ended
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function cancelAllDeliveries(context: Context, endpointId: EndpointId): Promise<number> {
  const { db, actor, runCanceller } = context;
  requireOperator(actor);
  await requireEndpoint(db, actor.workspaceId, endpointId);
  const { rows } = await sql<{ now: Date }>`SELECT now()`.execute(db);
  const begin = rows[0]?.now ?? new Date();
  const cancelBatch = () =>
    inTransaction(db, async (tx) => {
      const open = await tx
        .selectFrom('webhook_open')
        .select(['id', 'in_run'])
        .where('endpoint_id', '=', endpointId)
        .where('created_at', '<=', begin)
        .orderBy('due_at')
        .orderBy('id')
        .limit(BATCH)
        .forUpdate()
        .skipLocked()
        .execute();
      const ended = await endOpen(
        tx,
        open.map(({ id }) => id),
        CANCELLED,
      );
      if (ended.length > 0) {
        await recordAudit(tx, context, {
          action: 'webhooks.cancelled',
          targetType: 'webhook_endpoint',
          targetId: endpointId,
          details: { count: ended.length },
        });
      }
      return { count: ended.length, inRuns: open.filter((row) => row.in_run).map(({ id }) => id) };
    });
  let count = 0;
  for (let idle = 0; idle < 2; ) {
    const batch = await cancelBatch();
    count += batch.count;
    if (batch.inRuns.length > 0) runCanceller.cancel(batch.inRuns);
    idle = batch.count === 0 ? idle + 1 : 0;
  }
  return count;
}
