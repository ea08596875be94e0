import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { DeliveryId } from '../../ids.ts';
import type { AttemptOutcome } from '../../temporal/shapes.ts';
import { MAX_ATTEMPTS, waitAfter } from './schedule.ts';

/**
 * Records what an attempt came to: its own row, and the delivery's status, attempts, responseStatus,
 * errorMessage, deliveredAt and next attempt. An outcome that is older than what the row tells, or comes
 * after the delivery's end, changes nothing, so it may be recorded again. One statement: it is part of every attempt.
 */
export async function recordAttempt(
  db: Database,
  deliveryId: DeliveryId,
  outcome: AttemptOutcome,
): Promise<void> {
  const endedAt = new Date(Date.parse(outcome.startedAt) + outcome.durationMs);
  const isLast = outcome.verdict !== 'retry' || outcome.number >= MAX_ATTEMPTS;
  await db
    .with('updated', (query) =>
      query
        .updateTable('webhook_deliveries')
        .set({
          status: outcome.verdict === 'succeeded' ? 'succeeded' : 'failed',
          attempts: outcome.number,
          response_status: outcome.responseStatus,
          error_message: outcome.errorMessage,
          delivered_at: outcome.verdict === 'succeeded' ? endedAt : null,
          next_attempt_at: isLast ? null : new Date(endedAt.getTime() + waitAfter(outcome.number)),
          ended_at: isLast ? endedAt : null,
        })
        .where('id', '=', deliveryId)
        .where('ended_at', 'is', null)
        .where('attempts', '<', outcome.number)
        .returning('id'),
    )
    .insertInto('webhook_attempts')
    .columns([
      'delivery_id',
      'number',
      'started_at',
      'duration_ms',
      'response_status',
      'error_message',
      'response_body',
    ])
    .expression((query) =>
      query
        .selectFrom('updated')
        .select([
          'id as delivery_id',
          sql<number>`${outcome.number}::integer`.as('number'),
          sql<Date>`${outcome.startedAt}::timestamptz`.as('started_at'),
          sql<number>`${outcome.durationMs}::integer`.as('duration_ms'),
          sql<number | null>`${outcome.responseStatus}::integer`.as('response_status'),
          sql<string | null>`${outcome.errorMessage}::text`.as('error_message'),
          sql<string | null>`${outcome.responseBody}::text`.as('response_body'),
        ]),
    )
    .onConflict((on) => on.doNothing())
    .execute();
}

/**
 * Ends a delivery that will not be sent again, as failed and with its attempts unchanged.
 * @returns false when it had ended before, or went with its endpoint
 */
export async function endDelivery(db: Database, deliveryId: DeliveryId, reason: string): Promise<boolean> {
  const result = await db
    .updateTable('webhook_deliveries')
    .set({
      status: 'failed',
      error_message: reason,
      next_attempt_at: null,
      outbox: false,
      ended_at: sql`now()`,
    })
    .where('id', '=', deliveryId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}
