import { type RawBuilder, sql } from 'kysely';
import type { Queryable } from '../../db/database.ts';
import type { DeliveryId, EndpointId } from '../../ids.ts';
import { ENDPOINT_DISABLED, isFree, isLiving, STOPPED_BY_OPERATOR, tooOld } from './states.ts';

/** Deliveries that one statement ends. */
export const ENDED_AT_ONCE = 1_000;

/** The columns of both open deliveries and the log, in one order. */
const SHARED = sql`id, workspace_id, endpoint_id, event_id, event_created_at, event_type, in_run, burst_id, created_at`;

/**
 * SQL: the INSERT that moves rows taken out of `webhook_open` to the log. Rows of a deleted endpoint are dropped.
 * @param ended a table or CTE with the shared columns, and `final_status`, `final_attempts`, `final_response_status`,
 *   `final_error`, `final_log`, `final_delivered_at`
 */
export const intoLog = (ended: string): RawBuilder<unknown> => sql`
  INSERT INTO webhook_log (${SHARED}, status, attempts, response_status, error_message, attempt_log, delivered_at)
  SELECT ${SHARED}, final_status, final_attempts, final_response_status, final_error, final_log, final_delivered_at
  FROM ${sql.table(ended)} AS ended
  WHERE EXISTS (SELECT FROM webhook_endpoints AS endpoint WHERE endpoint.id = ended.endpoint_id AND ${isLiving})`;

/**
 * SQL: RETURNING of a DELETE of `delivery` that ends it as failed, with its attempts so far.
 * @param isSpent whether an attempt begun without an outcome counts
 */
export const failedFor = (reason: string, isSpent = false): RawBuilder<unknown> => {
  const isOpen = sql`${isSpent}::boolean AND delivery.begun > delivery.attempts`;
  return sql`
  delivery.*, 'failed' AS final_status, CASE WHEN ${isOpen} THEN delivery.begun ELSE delivery.attempts END AS final_attempts,
  CASE WHEN ${isOpen} THEN NULL ELSE delivery.response_status END AS final_response_status,
  ${reason}::text AS final_error, delivery.attempt_log AS final_log, NULL::timestamptz AS final_delivered_at`;
};

/** An ended delivery. */
interface Ended {
  readonly id: DeliveryId;
  readonly inRun: boolean;
}

async function endWhere(
  db: Queryable,
  which: RawBuilder<boolean>,
  reason: string,
  order: RawBuilder<unknown> = sql``,
): Promise<Ended[]> {
  const { rows } = await sql<Ended>`
    WITH chosen AS MATERIALIZED (
      SELECT delivery.id FROM webhook_open AS delivery WHERE ${which} ${order} LIMIT ${ENDED_AT_ONCE}
      FOR UPDATE SKIP LOCKED
    ), ended AS (
      DELETE FROM webhook_open AS delivery WHERE delivery.id = ANY (ARRAY(SELECT id FROM chosen))
      RETURNING ${failedFor(reason)}
    ), logged AS (${intoLog('ended')})
    SELECT id, in_run AS "inRun" FROM ended`.execute(db);
  return rows;
}

/**
 * Ends deliveries of an endpoint that were open at `at` as failed, whoever holds them; their attempts stay. Skips
 * locked rows.
 * @returns those that were ended; ENDED_AT_ONCE when more may be left
 */
export const endSome = (db: Queryable, endpointId: EndpointId, at: Date, reason: string): Promise<Ended[]> =>
  endWhere(db, sql`delivery.endpoint_id = ${endpointId} AND delivery.created_at <= ${at}`, reason);

/**
 * Ends deliveries as failed that were queued longer ago than `maxAgeSeconds`, the oldest first, along the primary key
 * (contract.md W103). An attempt that has begun goes on.
 * @returns how many; ENDED_AT_ONCE when more may be left
 */
export async function endOverdue(db: Queryable, maxAgeSeconds: number): Promise<number> {
  const isOverdue = sql<boolean>`delivery.id < (SELECT uuidv7(make_interval(secs => ${-maxAgeSeconds}::float8)))
    AND delivery.burst_id IS NULL AND delivery.begun <= delivery.attempts`;
  const ended = await endWhere(db, isOverdue, tooOld(maxAgeSeconds), sql`ORDER BY delivery.id`);
  return ended.length;
}

/**
 * Ends a delivery as failed, whoever holds it; its attempts stay. Waits for locks on the row.
 * @param which only where this holds
 * @param isSpent whether an attempt begun without an outcome counts
 * @returns false when it had already ended
 */
export async function endOne(
  db: Queryable,
  id: DeliveryId,
  reason: string,
  which: RawBuilder<boolean> = sql`true`,
  isSpent = false,
): Promise<boolean> {
  const { rows } = await sql`
    WITH ended AS (
      DELETE FROM webhook_open AS delivery WHERE delivery.id = ${id} AND ${which}
      RETURNING ${failedFor(reason, isSpent)}
    ), logged AS (${intoLog('ended')})
    SELECT id FROM ended`.execute(db);
  return rows.length === 1;
}

/** Ends a delivery in a run. An attempt that has begun is spent, unless the run was stopped from outside. */
export const endInRun = (db: Queryable, id: DeliveryId, reason: string): Promise<boolean> =>
  endOne(db, id, reason, sql`delivery.in_run`, ![STOPPED_BY_OPERATOR, ENDPOINT_DISABLED].includes(reason));

/**
 * Ends free due deliveries of an endpoint, if it is still disabled.
 * @returns how many; ENDED_AT_ONCE when more may be left
 */
export async function endDisabled(db: Queryable, endpointId: EndpointId): Promise<number> {
  const ended = await endWhere(
    db,
    sql`delivery.endpoint_id = ${endpointId} AND delivery.due_at <= now() AND ${isFree}
      AND NOT (SELECT active FROM webhook_endpoints WHERE id = ${endpointId})`,
    ENDPOINT_DISABLED,
  );
  return ended.length;
}
