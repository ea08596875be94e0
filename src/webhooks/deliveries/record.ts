import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { prepare, type Slots } from '../../db/prepared.ts';
import type { LoggedAttempt } from '../../db/tables.ts';
import { retryingConflicts } from '../../db/transaction.ts';
import type { DeliveryId } from '../../ids.ts';
import type { AttemptRecord } from '../../temporal/shapes.ts';
import { MAX_ATTEMPTS, waitAfter } from '../attempts/schedule.ts';
import { intoLog } from './end.ts';

/** The outcome of an attempt, to be recorded. */
export interface RecordedAttempt extends AttemptRecord {
  readonly deliveryId: DeliveryId;
  /** When it ended, by this process's monotonic clock; without it, derived from its own times. */
  readonly endedAt?: number;
}

function toRow({ deliveryId, token, verdict, endedAt, ...entry }: RecordedAttempt) {
  const { number, responseStatus, errorMessage, startedAt, durationMs } = entry;
  const ended = Date.parse(startedAt) + durationMs;
  const waited = endedAt === undefined ? Math.max(0, Date.now() - ended) : performance.now() - endedAt;
  return {
    id: deliveryId,
    number,
    token,
    delivered: verdict === 'succeeded',
    last: verdict !== 'retry' || number >= MAX_ATTEMPTS,
    response_status: responseStatus,
    error_message: errorMessage,
    ended_at: new Date(ended),
    // The rest of the wait, in seconds: recording may have taken time.
    wait: Math.max(0, waitAfter(number) - waited) / 1_000,
    entry: entry satisfies LoggedAttempt,
  };
}

/** SQL: the attempt is the one that began last. */
const isTheirs = sql<boolean>`delivery.attempts < attempt.number
  AND delivery.begun = attempt.number AND delivery.begun_token = attempt.token`;

const record = prepare(
  'record_attempts',
  (_db, slot: Slots<{ given: string; ids: readonly DeliveryId[] }>) => sql<{ id: DeliveryId }>`
    WITH attempt AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${slot('given')}::json) AS attempt (id uuid, number smallint, token uuid, delivered boolean,
        last boolean, response_status integer, error_message text, ended_at timestamptz, wait float8, entry jsonb)
    ), ended AS (
      DELETE FROM webhook_open AS delivery USING attempt
      WHERE delivery.id = attempt.id AND delivery.id = ANY (${slot('ids')}::uuid[]) AND attempt.last
        AND (attempt.delivered OR ${isTheirs})
      RETURNING delivery.*, CASE WHEN attempt.delivered THEN 'succeeded' ELSE 'failed' END AS final_status,
        greatest(delivery.attempts, attempt.number) AS final_attempts,
        attempt.response_status AS final_response_status, attempt.error_message AS final_error,
        delivery.attempt_log || attempt.entry AS final_log,
        CASE WHEN attempt.delivered THEN attempt.ended_at END AS final_delivered_at
    ), logged AS (${intoLog('ended')}
    ), kept AS (
      UPDATE webhook_open AS delivery
      SET status = 'failed', attempts = attempt.number, response_status = attempt.response_status,
        error_message = attempt.error_message, attempt_log = delivery.attempt_log || attempt.entry,
        due_at = now() + make_interval(secs => attempt.wait), burst_id = NULL,
        losses = 0, losses_alone = 0, lost_at = NULL
      FROM attempt
      WHERE delivery.id = attempt.id AND delivery.id = ANY (${slot('ids')}::uuid[]) AND NOT attempt.last
        AND ${isTheirs}
      RETURNING delivery.id
    )
    SELECT id FROM ended UNION ALL SELECT id FROM kept`,
);

/**
 * Records outcomes of attempts of different deliveries in one statement. A finished delivery goes to the log; others
 * get the outcome and the time of their next attempt, and leave their burst. A failure counts only under the number and
 * token it began with, so recording again is safe and a late one changes nothing. A 2xx wins over whatever an open row
 * says.
 * @returns the deliveries whose rows changed
 */
export async function recordAttempts(
  db: Database,
  attempts: readonly RecordedAttempt[],
): Promise<Set<DeliveryId>> {
  const ids = attempts.map(({ deliveryId }) => deliveryId);
  // JSON is written and read faster than one array per column.
  const given = JSON.stringify(attempts.map(toRow));
  const rows = await retryingConflicts(() => record(db, { given, ids }));
  return new Set(rows.map(({ id }) => id));
}
