import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { BurstId, DeliveryId } from '../../ids.ts';
import type { AttemptOutcome } from '../../temporal/shapes.ts';
import { MAX_ATTEMPTS, waitAfter } from './schedule.ts';

export interface DeliveryOutcome {
  readonly deliveryId: DeliveryId;
  readonly outcome: AttemptOutcome;
}

/** Whose turn a delivery is that has attempts left: its run's, or the relay's, which starts one. */
type Next = 'run' | 'outbox';

/**
 * Records what attempts of different deliveries came to: their own rows, and each delivery's status, attempts,
 * responseStatus, errorMessage, deliveredAt and next attempt. An outcome that is older than what the row tells, or
 * comes after the delivery's end, changes nothing, so it may be recorded again. One statement, however many.
 * @param next where a delivery with attempts left goes: `outbox` puts it there in the statement that records it
 * @param locked what to do about rows that somebody else holds: several are skipped, since waiting for one with others
 *   locked is how deadlocks come about
 * @returns the deliveries whose rows it has changed
 */
export async function recordAttempts(
  db: Database,
  outcomes: readonly DeliveryOutcome[],
  next: Next,
  locked: 'skip' | 'wait' = outcomes.length === 1 ? 'wait' : 'skip',
): Promise<Set<DeliveryId>> {
  const rows = outcomes.map(({ deliveryId, outcome }) => {
    const endedAt = new Date(Date.parse(outcome.startedAt) + outcome.durationMs);
    const isLast = outcome.verdict !== 'retry' || outcome.number >= MAX_ATTEMPTS;
    return {
      ...outcome,
      deliveryId,
      deliveredAt: outcome.verdict === 'succeeded' ? endedAt : null,
      nextAttemptAt: isLast ? null : new Date(endedAt.getTime() + waitAfter(outcome.number)),
      endedAt: isLast ? endedAt : null,
    };
  });
  type Row = (typeof rows)[number];
  const column = <Name extends keyof Row>(name: Name) => rows.map((row) => row[name]);
  const toOutbox = next === 'outbox';
  const result = await sql<{ id: DeliveryId }>`
    WITH outcome AS (
      SELECT * FROM unnest(
        ${column('deliveryId')}::uuid[], ${column('number')}::integer[], ${column('startedAt')}::timestamptz[],
        ${column('durationMs')}::integer[], ${column('verdict')}::text[], ${column('responseStatus')}::integer[],
        ${column('errorMessage')}::text[], ${column('responseBody')}::text[],
        ${column('deliveredAt')}::timestamptz[], ${column('nextAttemptAt')}::timestamptz[],
        ${column('endedAt')}::timestamptz[]
      ) AS outcome (delivery_id, number, started_at, duration_ms, verdict, response_status, error_message,
        response_body, delivered_at, next_attempt_at, ended_at)
    ), free AS MATERIALIZED (
      SELECT id FROM webhook_deliveries WHERE id = ANY (${column('deliveryId')}::uuid[])
      FOR NO KEY UPDATE ${locked === 'skip' ? sql`SKIP LOCKED` : sql``}
    ), updated AS (
      UPDATE webhook_deliveries AS delivery
      SET status = CASE outcome.verdict WHEN 'succeeded' THEN 'succeeded' ELSE 'failed' END,
        attempts = outcome.number,
        response_status = outcome.response_status,
        error_message = outcome.error_message,
        delivered_at = outcome.delivered_at,
        next_attempt_at = outcome.next_attempt_at,
        ended_at = outcome.ended_at,
        outbox = ${toOutbox} AND outcome.ended_at IS NULL,
        burst_id = CASE WHEN ${toOutbox} AND outcome.ended_at IS NOT NULL THEN delivery.burst_id END
      FROM outcome JOIN free ON free.id = outcome.delivery_id
      WHERE delivery.id = free.id
        AND delivery.ended_at IS NULL AND delivery.attempts < outcome.number
      RETURNING delivery.id
    ), logged AS (
      INSERT INTO webhook_attempts (delivery_id, number, started_at, duration_ms, response_status, error_message,
        response_body)
      SELECT delivery_id, number, started_at, duration_ms, response_status, error_message, response_body
      FROM outcome JOIN updated ON updated.id = outcome.delivery_id
      ON CONFLICT DO NOTHING
    )
    SELECT id FROM updated
  `.execute(db);
  return new Set(result.rows.map(({ id }) => id));
}

/** {@link recordAttempts} for the attempt of a delivery that has a run of its own. */
export async function recordAttempt(
  db: Database,
  deliveryId: DeliveryId,
  outcome: AttemptOutcome,
): Promise<void> {
  await recordAttempts(db, [{ deliveryId, outcome }], 'run');
}

const ending = (db: Database, reason: string) =>
  db
    .updateTable('webhook_deliveries')
    .set({
      status: 'failed',
      error_message: reason,
      next_attempt_at: null,
      outbox: false,
      ended_at: sql`now()`,
    })
    .where('ended_at', 'is', null);

/**
 * Ends a delivery that will not be sent again, as failed and with its attempts unchanged.
 * @returns false when it had ended before, or went with its endpoint
 */
export async function endDelivery(db: Database, deliveryId: DeliveryId, reason: string): Promise<boolean> {
  const { numUpdatedRows } = await ending(db, reason).where('id', '=', deliveryId).executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/**
 * {@link endDelivery} for one whose run was found closed: only while it is still that run's, since a burst may have
 * put it back into the outbox meanwhile.
 * @param burstId the burst it was in when it was looked at; null for a run of its own
 */
export async function endAbandonedDelivery(
  db: Database,
  deliveryId: DeliveryId,
  burstId: BurstId | null,
  reason: string,
): Promise<boolean> {
  const { numUpdatedRows } = await ending(db, reason)
    .where('id', '=', deliveryId)
    .where('outbox', '=', false)
    .where('burst_id', 'is not distinct from', burstId)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** {@link endDelivery} for several at once. @returns how many */
export async function endDeliveries(
  db: Database,
  deliveryIds: readonly DeliveryId[],
  reason: string,
): Promise<number> {
  const { numUpdatedRows } = await ending(db, reason)
    .where('id', '=', sql<DeliveryId>`ANY (${[...deliveryIds]}::uuid[])`)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** {@link endDelivery} for whatever a burst has neither recorded nor given back. @returns how many */
export async function endBurst(db: Database, burstId: BurstId, reason: string): Promise<number> {
  const { numUpdatedRows } = await ending(db, reason)
    .where('burst_id', '=', burstId)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
