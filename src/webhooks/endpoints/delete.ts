import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { Tx } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DeliveryId, EndpointId } from '../../ids.ts';
import { noSuchEndpoint, receiverOf } from './queries.ts';
import type { RunCanceller } from './run-canceller.ts';

const PAUSE_MS = 10;
const MOST_PAUSES = 100;

interface Removed {
  readonly count: number;
  /** Those that had runs of their own and had not ended: these runs have nothing left to send. */
  readonly open: readonly DeliveryId[];
}

/** Removes the deliveries that nobody else holds a lock on at this moment, their attempts with them. */
async function removeUnlocked(tx: Tx, endpointId: EndpointId): Promise<Removed> {
  const { rows } = await sql<Removed>`
    WITH unlocked AS MATERIALIZED (
      SELECT id FROM webhook_deliveries WHERE endpoint_id = ${endpointId} FOR UPDATE SKIP LOCKED
    ), removed AS (
      DELETE FROM webhook_deliveries AS delivery USING unlocked WHERE delivery.id = unlocked.id
      RETURNING delivery.id, delivery.outbox, delivery.burst_id, delivery.ended_at
    )
    SELECT count(*)::integer AS count,
      coalesce(array_agg(id) FILTER (WHERE NOT outbox AND burst_id IS NULL AND ended_at IS NULL), '{}') AS open
    FROM removed
  `.execute(tx);
  return rows[0] ?? { count: 0, open: [] };
}

/**
 * Removes the deliveries of a locked endpoint. The relay and the attempts lock several of them, in orders of
 * their own, for a moment each: never waiting for a row is what keeps this from deadlocking with them. What is
 * still locked after a second goes with the endpoint's row, which waits.
 */
async function removeDeliveries(tx: Tx, endpointId: EndpointId): Promise<Removed> {
  let count = 0;
  let open: readonly DeliveryId[] = [];
  for (let pauses = 0; ; pauses += 1) {
    const removed = await removeUnlocked(tx, endpointId);
    count += removed.count;
    open = open.concat(removed.open);
    const left = await tx
      .selectFrom('webhook_deliveries')
      .select('id')
      .where('endpoint_id', '=', endpointId)
      .limit(1)
      .executeTakeFirst();
    if (left === undefined || pauses === MOST_PAUSES) return { count, open };
    await sleep(PAUSE_MS);
  }
}

/**
 * Deletes an endpoint with its delivery log, waiting deliveries included (contract.md W5). When
 * this commits nothing more is sent, except by an attempt that had begun: each reads its row again right before
 * it writes. Their runs are cancelled afterwards, which only saves work.
 * @throws {ServiceError} RESOURCE_NOT_FOUND for an unknown or foreign endpoint
 */
export async function deleteEndpoint(
  context: VerbContext & { readonly runCanceller: Pick<RunCanceller, 'cancel'> },
  endpointId: EndpointId,
): Promise<void> {
  const { db, actor } = context;
  requirePermissions(actor, 'integrations.delete');
  const openRuns = await inTransaction(db, async (tx) => {
    // Waits for transactions that are queuing deliveries for it, and makes later ones leave it out.
    const endpoint = await tx
      .selectFrom('webhook_endpoints')
      .select('url')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', endpointId)
      .forUpdate()
      .executeTakeFirst();
    if (endpoint === undefined) throw noSuchEndpoint();
    const { count, open } = await removeDeliveries(tx, endpointId);
    await tx.deleteFrom('webhook_endpoints').where('id', '=', endpointId).execute();
    await recordAudit(tx, context, {
      action: 'webhooks.deleted',
      targetType: 'webhook_endpoint',
      targetId: endpointId,
      details: { host: receiverOf(endpoint.url), deliveries: count },
    });
    return open;
  });
  // Thousands may wait for a retry that has nothing to send now; the answer does not wait for them.
  context.runCanceller.cancel(openRuns);
}
