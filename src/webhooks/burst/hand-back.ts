import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { BurstId, DeliveryId } from '../../ids.ts';
import { waitAfter } from '../attempts/schedule.ts';

const UNKNOWN_OUTCOME = 'The attempt was interrupted and its outcome is unknown.';
const PAUSE_MS = 20;
const MOST_PAUSES = 100;

/**
 * Puts deliveries of a burst that are not recorded back into the outbox. One whose first attempt had begun has
 * spent it, as with every lost worker, and goes on with the second after the first wait; the others come back as
 * they were. Rows that somebody holds are looked at again for two seconds, and never waited for with others locked;
 * what is held for longer is being deleted, or is found by `reconcile`.
 * @returns how many
 */
export async function handBack(
  db: Database,
  burstId: BurstId,
  which: 'all' | readonly DeliveryId[],
): Promise<number> {
  const unrecorded = sql<boolean>`
    burst_id = ${burstId} AND attempts = 0 AND ended_at IS NULL AND NOT outbox
    AND ${which === 'all' ? sql`true` : sql`id = ANY (${[...which]}::uuid[])`}
  `;
  let total = 0;
  for (let pauses = 0; ; pauses += 1) {
    const { rows } = await sql<{ count: number; open: number }>`
      WITH free AS MATERIALIZED (
        SELECT id FROM webhook_deliveries WHERE ${unrecorded} FOR NO KEY UPDATE SKIP LOCKED
      ), returned AS (
        UPDATE webhook_deliveries AS delivery
        SET outbox = true, burst_id = NULL, handed_over_at = NULL,
          attempts = CASE WHEN begun_at IS NULL THEN 0 ELSE 1 END,
          status = CASE WHEN begun_at IS NULL THEN status ELSE 'failed' END,
          error_message = CASE WHEN begun_at IS NULL THEN error_message ELSE ${UNKNOWN_OUTCOME} END,
          next_attempt_at = CASE WHEN begun_at IS NULL THEN next_attempt_at
            ELSE now() + make_interval(secs => ${waitAfter(1) / 1_000}) END
        FROM free WHERE delivery.id = free.id
        RETURNING 1
      )
      SELECT (SELECT count(*) FROM returned)::integer AS count,
        (SELECT count(*) FROM webhook_deliveries WHERE ${unrecorded})::integer AS open
    `.execute(db);
    const [{ count, open } = { count: 0, open: 0 }] = rows;
    total += count;
    // The count is of the moment before the update.
    if (open === count || pauses === MOST_PAUSES) return total;
    await sleep(PAUSE_MS);
  }
}
