import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { BurstId, DeliveryId } from '../../ids.ts';
import { takeBackLost } from './lost.ts';

/** What the process that sends for a burst knows at its end. */
export interface SentHere {
  /** Given to the burst to send, and not recorded. */
  readonly given: ReadonlySet<DeliveryId>;
  /** Whether a claim failed: it may have taken deliveries without returning them. */
  readonly isClaimLost: boolean;
}

/**
 * Closes a burst and frees its deliveries; attempts that have begun are lost ({@link takeBackLost}). Idempotent.
 * Without `here` it reads all open deliveries to find the burst's.
 * @param here of the sending process: deliveries of a lost claim were never sent and go back unchanged
 */
export async function freeBurst(db: Database, burstId: BurstId, here?: SentHere): Promise<number> {
  return inTransaction(db, async (tx) => {
    // First: it waits for claims under way, and later ones find no burst.
    await tx.deleteFrom('webhook_bursts').where('id', '=', burstId).execute();
    const known = here?.isClaimLost === false ? here.given : null;
    if (known?.size === 0) return 0;
    const where = known === null ? sql`true` : sql`id = ANY (${[...known]}::uuid[])`;
    // A separate statement, so that the next one sees what began while this one waited for its lock.
    const { rows: held } = await sql<{ id: DeliveryId }>`
      SELECT id FROM webhook_open WHERE burst_id = ${burstId} AND ${where} ORDER BY id FOR UPDATE`.execute(
      tx,
    );
    if (held.length === 0) return 0;
    const sent = held.flatMap(({ id }) => (here?.given.has(id) === false ? [] : id));
    await takeBackLost(tx, sql`delivery.id = ANY (${sent}::uuid[])`);
    // What was never sent, or has not begun.
    await sql`
      UPDATE webhook_open SET burst_id = NULL, begun = attempts, begun_token = NULL
      WHERE id = ANY (${held.map(({ id }) => id)}::uuid[]) AND burst_id = ${burstId}`.execute(tx);
    return held.length;
  });
}
