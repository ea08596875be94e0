import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { retryingConflicts } from '../../db/transaction.ts';
import type { EndpointId } from '../../ids.ts';
import { isLiving } from '../deliveries/states.ts';
import type { Seen } from './figures.ts';

/** Endpoints of one statement. */
const BATCH = 500;

const time = (at: number | null) => at && new Date(at).toISOString();

/**
 * Adds what a process has seen to what is stored. Several processes write about the same endpoint in any order: the latest
 * success counts, and failures after it. What began before a deletion committed is dropped.
 */
export async function writeFigures(db: Database, { outcomes, hours }: Seen): Promise<void> {
  const ids = [...outcomes.keys()].sort();
  for (let from = 0; from < ids.length; from += BATCH) {
    const batch = new Set<EndpointId>(ids.slice(from, from + BATCH));
    const given = [...batch].flatMap((id) => {
      const of = outcomes.get(id);
      return of === undefined
        ? []
        : {
            endpoint_id: id,
            last_success_at: time(of.lastSuccessAt),
            failed: of.failed,
            failing_since: time(of.firstFailureAt),
            last_failure_at: time(of.lastFailureAt),
          };
    });
    const counts = hours
      .filter(({ endpointId }) => batch.has(endpointId))
      .map(({ endpointId, hour, ...count }) => ({ endpoint_id: endpointId, hour: time(hour), ...count }));
    await retryingConflicts(() => add(db, JSON.stringify(given), JSON.stringify(counts)));
  }
}

/** SQL: the latest success of both; and what of either failed after it. */
const SUCCESS = sql`greatest(known.last_success_at, excluded.last_success_at)`;
const KNOWN_COUNTS = sql`coalesce(known.failing_since > ${SUCCESS}, known.failing_since IS NOT NULL)`;
const GIVEN_COUNTS = sql`coalesce(excluded.last_failure_at > ${SUCCESS}, excluded.last_failure_at IS NOT NULL)`;

const add = (db: Database, given: string, counts: string) =>
  sql`
    WITH living AS MATERIALIZED (
      SELECT given.* FROM json_to_recordset(${given}::json) AS given (endpoint_id uuid, last_success_at timestamptz(3),
        last_failure_at timestamptz(3), failing_since timestamptz(3), failed integer)
      JOIN webhook_endpoints AS endpoint ON endpoint.id = given.endpoint_id AND ${isLiving}
      ORDER BY given.endpoint_id FOR KEY SHARE OF endpoint
    ), health AS (
      INSERT INTO webhook_health AS known (endpoint_id, last_success_at, last_failure_at, failing_since, failed)
      SELECT endpoint_id, last_success_at, last_failure_at, failing_since, failed FROM living ORDER BY endpoint_id
      ON CONFLICT (endpoint_id) DO UPDATE SET
        last_success_at = ${SUCCESS},
        last_failure_at = greatest(known.last_failure_at, excluded.last_failure_at),
        failing_since = least(CASE WHEN ${KNOWN_COUNTS} THEN known.failing_since END,
          CASE WHEN ${GIVEN_COUNTS} THEN greatest(excluded.failing_since, ${SUCCESS}) END),
        failed = CASE WHEN ${KNOWN_COUNTS} THEN known.failed ELSE 0 END
          + CASE WHEN ${GIVEN_COUNTS} THEN excluded.failed ELSE 0 END
    )
    INSERT INTO webhook_hours AS known (endpoint_id, hour, bucket, succeeded, attempts)
    SELECT endpoint_id, hour, bucket, succeeded, attempts
    FROM json_to_recordset(${counts}::json) AS count (endpoint_id uuid, hour timestamptz, bucket smallint,
      succeeded boolean, attempts integer)
    WHERE endpoint_id IN (SELECT endpoint_id FROM living)
    ORDER BY endpoint_id, hour, bucket, succeeded
    ON CONFLICT (endpoint_id, hour, bucket, succeeded) DO UPDATE SET attempts = known.attempts + excluded.attempts
  `.execute(db);
