import { sql } from 'kysely';
import type { Watcher } from '../../db/batches.ts';
import { oldestTransaction } from '../../db/clock.ts';
import type { Database } from '../../db/database.ts';
import { removeNewest } from '../../db/remove-newest.ts';
import { retryingConflicts } from '../../db/transaction.ts';
import type { EndpointId } from '../../ids.ts';

/** Rows that one statement removes. */
const BATCH = 5_000;
/** Duration of one round. */
const ROUND_MS = 30_000;

/**
 * Removes a batch of a deleted endpoint's deliveries: open ones, skipping locked rows, and ended ones.
 * @returns how many rows
 */
export async function removeDeliveries(db: Database, id: EndpointId): Promise<number> {
  const { numAffectedRows = 0n } = await retryingConflicts(() =>
    sql`DELETE FROM webhook_open WHERE id = ANY (ARRAY(
      SELECT id FROM webhook_open WHERE endpoint_id = ${id} ORDER BY due_at LIMIT ${BATCH}
      FOR UPDATE SKIP LOCKED))`.execute(db),
  );
  return Number(numAffectedRows) + (await removeNewest(db, 'webhook_log', sql`endpoint_id = ${id}`, BATCH));
}

/**
 * Removes the row of an emptied deleted endpoint. Transactions that began before the deletion was committed may still insert
 * for it, so the row outlives them; the deletion itself takes less than two minutes.
 */
export async function removeEmptied(db: Database, id: EndpointId): Promise<void> {
  await sql`DELETE FROM webhook_endpoints AS endpoint
    WHERE id = ${id} AND deleted_at < ${oldestTransaction} - interval '2 minutes'
      AND NOT EXISTS (SELECT FROM webhook_open AS delivery WHERE delivery.endpoint_id = endpoint.id)
      AND NOT EXISTS (SELECT FROM webhook_log AS delivery WHERE delivery.endpoint_id = endpoint.id)`.execute(
    db,
  );
}

/**
 * Empties deleted endpoints for half a minute: a batch of each in turn, the endpoint's own row last.
 * @param onProgress called before each batch
 */
export async function emptyDeletedEndpoints({
  db,
  onProgress,
  onError,
}: Watcher & { readonly db: Database }): Promise<void> {
  const end = performance.now() + ROUND_MS;
  const waiting = await db
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at')
    .execute();
  // An endpoint with more goes to the end of the list, which grows as it is walked.
  for (const [batches, { id }] of waiting.entries()) {
    onProgress(batches);
    if (performance.now() >= end) return;
    try {
      if ((await removeDeliveries(db, id)) > 0) waiting.push({ id });
      else await removeEmptied(db, id);
    } catch (error) {
      onError(id, error);
    }
  }
}
