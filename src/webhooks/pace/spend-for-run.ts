import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { prepare, type Slots } from '../../db/prepared.ts';
import { retryingConflicts } from '../../db/transaction.ts';
import type { EndpointId } from '../../ids.ts';
import { isInForce, rateAt, spent, waitAt } from './pace.ts';

/** A run takes a place this far ahead, in seconds, so that bursts, which claim at every turn, leave it one. */
const AHEAD = sql.lit(1);

/** A place in an endpoint's pace, `waitMs` from now; or none yet, and when to ask again. */
export interface Place {
  readonly kind: 'taken' | 'none';
  readonly epoch: number;
  readonly waitMs: number;
}

/** Deliveries of an endpoint that runs hold, about; they don't all ask again at once. */
const RUNS = 20;
const SHORTEST_WAIT_MS = 1_000;
const LONGEST_SPREAD_MS = 60_000;

const spend = prepare(
  'spend_for_run',
  (_db, slot: Slots<{ endpointId: EndpointId }>) => sql<{
    taken: number | null;
    epoch: number | null;
    wait: number | null;
    rate: number | null;
  }>`
    WITH spent AS (
      UPDATE webhook_paces AS pace SET ${spent(sql.lit(1))}
      WHERE pace.endpoint_id = ${slot('endpointId')} AND ${isInForce()} AND pace.next_at <= now() + make_interval(secs => ${AHEAD})
      RETURNING greatest(0, extract(epoch FROM old.next_at - now()))::float8 AS wait
    )
    SELECT (SELECT wait FROM spent) AS taken, pace.epoch, ${waitAt()} AS wait, ${rateAt()} AS rate
    FROM (SELECT) AS one
    LEFT JOIN webhook_paces AS pace ON pace.endpoint_id = ${slot('endpointId')} AND ${isInForce()}`,
);

/**
 * Takes a place in the pace of an endpoint for an attempt of a run (contract.md W75). Without a pace by now it is at once.
 */
export async function spendForRun(db: Database, endpointId: EndpointId): Promise<Place> {
  const [row] = await retryingConflicts(() => spend(db, { endpointId }));
  const { taken, epoch, wait, rate } = row ?? { taken: null, epoch: null, wait: null, rate: null };
  if (epoch === null || wait === null || rate === null) return { kind: 'taken', epoch: 0, waitMs: 0 };
  if (taken !== null) return { kind: 'taken', epoch, waitMs: taken * 1_000 };
  const spread = Math.random() * Math.min(LONGEST_SPREAD_MS, (RUNS * 1_000) / rate);
  return { kind: 'none', epoch, waitMs: Math.ceil(Math.max(SHORTEST_WAIT_MS, wait * 1_000) + spread) };
}
