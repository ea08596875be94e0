import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { retryingConflicts } from '../../db/transaction.ts';
import type { EndpointId } from '../../ids.ts';
import { isLiving } from '../deliveries/states.ts';
import {
  COUNT_COLUMNS,
  earlierRefusal,
  firstRefusal,
  isInForce,
  LONGEST_SILENCE,
  laterRefusal,
  REFUSAL_COLUMNS,
} from './pace.ts';

/** Requests to an endpoint that its receiver has refused. */
export interface Refusal {
  readonly endpointId: EndpointId;
  /** The pace that they were claimed under; 0 without one. */
  readonly epoch: number;
  readonly refused: number;
  /** The longest Retry-After, in seconds; null when there was none. */
  readonly retryAfter: number | null;
  /** What this process knows to be accepted in the last `active` seconds, ten at most. */
  readonly accepted: number;
  readonly active: number;
}

/**
 * Slows down what is sent to endpoints (contract.md W73 and W74), in one statement: sets a pace, lowers one that the
 * refused requests were claimed under, and else only prolongs its silence. Of workers that are refused at once before there
 * is a pace, the one that knows of most taken sets its rate, in whichever order they are stored.
 * @param refusals at most one for each endpoint
 */
export async function refuse(
  db: Database,
  refusals: readonly Refusal[],
  now: RawBuilder<unknown> = sql`now()`,
): Promise<void> {
  const given = JSON.stringify(
    refusals.map(({ endpointId, retryAfter, ...counts }) => ({
      endpoint_id: endpointId,
      retry_after: retryAfter && Math.min(LONGEST_SILENCE, retryAfter),
      ...counts,
    })),
  );
  await retryingConflicts(() =>
    sql`
      WITH given AS MATERIALIZED (
        SELECT given.* FROM json_to_recordset(${given}::json) AS given (endpoint_id uuid, epoch integer, refused integer,
          retry_after float8, accepted float8, active float8)
        JOIN webhook_endpoints AS endpoint ON endpoint.id = given.endpoint_id AND ${isLiving}
        ORDER BY given.endpoint_id FOR KEY SHARE OF endpoint
      )
      INSERT INTO webhook_paces AS pace (endpoint_id, ${REFUSAL_COLUMNS}, ${COUNT_COLUMNS})
      SELECT first.*, resumed_at, resumed_at, 0
      FROM (SELECT given.endpoint_id, ${firstRefusal(now)} FROM given) AS first (endpoint_id, ${REFUSAL_COLUMNS})
      ON CONFLICT (endpoint_id) DO UPDATE SET (${REFUSAL_COLUMNS}, ${COUNT_COLUMNS}) = (
        SELECT changed.* FROM given CROSS JOIN LATERAL (
          SELECT next.*, resumed_at, resumed_at, 0 FROM (
            SELECT * FROM (${laterRefusal(now)}) AS later WHERE ${isInForce(now)} AND pace.epoch = given.epoch
            UNION ALL SELECT ${firstRefusal(now)} WHERE NOT ${isInForce(now)}
          ) AS next (${REFUSAL_COLUMNS})
          UNION ALL SELECT ${earlierRefusal(now)} WHERE ${isInForce(now)} AND pace.epoch <> given.epoch
        ) AS changed
        WHERE given.endpoint_id = pace.endpoint_id)`.execute(db),
  );
}
