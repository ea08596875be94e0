import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { BurstId, DeliveryId } from '../../ids.ts';
import { waitAfter } from '../delivery/schedule.ts';

const UNKNOWN_OUTCOME = 'The attempt was interrupted and its outcome is unknown.';

/**
 * Puts deliveries of a burst that are not recorded back into the outbox. One whose first attempt had begun has
 * spent it, as with every lost worker, and goes on with the second after the first wait; the others come back as
 * they were.
 * @returns how many
 */
export async function handBack(
  db: Database,
  burstId: BurstId,
  which: 'all' | readonly DeliveryId[],
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    UPDATE webhook_deliveries
    SET outbox = true, burst_id = NULL, handed_over_at = NULL,
      attempts = CASE WHEN begun_at IS NULL THEN 0 ELSE 1 END,
      status = CASE WHEN begun_at IS NULL THEN status ELSE 'failed' END,
      error_message = CASE WHEN begun_at IS NULL THEN error_message ELSE ${UNKNOWN_OUTCOME} END,
      next_attempt_at = CASE WHEN begun_at IS NULL THEN next_attempt_at
        ELSE now() + make_interval(secs => ${waitAfter(1) / 1_000}) END
    WHERE burst_id = ${burstId} AND attempts = 0 AND ended_at IS NULL AND NOT outbox
      AND ${which === 'all' ? sql`true` : sql`id = ANY (${[...which]}::uuid[])`}
  `.execute(db);
  return Number(numAffectedRows);
}
