import { type RawBuilder, sql } from 'kysely';
import type { Database, Queryable } from '../../db/database.ts';
import { inTransaction, retryingConflicts } from '../../db/transaction.ts';
import type { DeliveryId, EndpointId, WorkspaceId } from '../../ids.ts';
import { failedFor, intoLog } from './end.ts';
import { isFree, isHeard, LOST_ALONE } from './states.ts';

/** What was lost comes back after the seconds that an attempt may take, since its worker may only have been slow. */
const FIRST = sql.lit(15);
/** And spread over so many. */
const SPREAD = sql.lit(30);
/** Suspects in flight at once: of those lost once, and twice; then one alone. */
const AT_ONCE = 50;
const FEW_AT_ONCE = 8;
/** After so many losses as the only suspect in flight a delivery ends. */
const MOST_ALONE = 3;
/** One that was released and has not begun after this long holds up no other. */
const RELEASED = sql`interval '10 seconds'`;

/** SQL over `delivery`: its attempt has begun and has no outcome. */
const isUnderWay = sql<boolean>`delivery.begun > delivery.attempts`;
/** SQL over `delivery`, a suspect: how many of them may be in flight with it. */
const mostWith = sql<number>`CASE WHEN delivery.losses_alone > 0 OR delivery.losses > 2 THEN 1
  WHEN delivery.losses = 2 THEN ${sql.lit(FEW_AT_ONCE)} ELSE ${sql.lit(AT_ONCE)} END`;

/**
 * Takes back attempts without an outcome: their worker was lost, or could not record them. Each is made again under its
 * own number. The deliveries are suspects now, since one of them may have ended the worker: they are due 15 to 45 s later, and
 * parked until {@link releaseSuspects} lets them go on (contract.md W122). One that was the only suspect in flight for the third time
 * ends failed (contract.md W123).
 * @param which of `delivery`; those without an attempt under way are left alone
 * @returns those that ended
 */
export async function takeBackLost(db: Queryable, which: RawBuilder<boolean>): Promise<DeliveryId[]> {
  const { rows } = await sql<{ id: DeliveryId }>`
    WITH company AS MATERIALIZED (
      SELECT count(*) AS suspects FROM (
        SELECT FROM webhook_open AS delivery WHERE delivery.losses > 0 AND ${isUnderWay} LIMIT 2) AS flying
    ), lost AS MATERIALIZED (
      SELECT delivery.id, delivery.losses_alone + (delivery.losses > 0 AND company.suspects = 1)::integer AS alone
      FROM webhook_open AS delivery CROSS JOIN company WHERE ${which} AND ${isUnderWay} FOR UPDATE OF delivery
    ), ended AS (
      DELETE FROM webhook_open AS delivery USING lost WHERE delivery.id = lost.id AND lost.alone >= ${MOST_ALONE}
      RETURNING ${failedFor(LOST_ALONE)}
    ), logged AS (${intoLog('ended')}
    ), kept AS (
      UPDATE webhook_open AS delivery
      SET begun = delivery.attempts, begun_token = NULL, burst_id = NULL, losses = least(delivery.losses, 100) + 1,
        losses_alone = lost.alone, lost_at = now(), parked = true,
        due_at = now() + make_interval(secs => ${FIRST} + random() * ${SPREAD})
      FROM lost WHERE delivery.id = lost.id AND lost.alone < ${MOST_ALONE}
    )
    SELECT id FROM ended`.execute(db);
  return rows.map(({ id }) => id);
}

/** An attempt of a run that has begun and has no outcome. */
export interface LostAttempt {
  readonly token: string | null;
}

/**
 * The same for the attempt that an earlier execution of a run has begun; the run keeps its delivery.
 * @returns false when the delivery has ended now
 */
export async function takeBackInRun(db: Database, id: DeliveryId, { token }: LostAttempt): Promise<boolean> {
  const isTheirs = sql<boolean>`delivery.id = ${id} AND delivery.in_run
    AND delivery.begun_token IS NOT DISTINCT FROM ${token}::uuid`;
  return (await retryingConflicts(() => takeBackLost(db, isTheirs))).length === 0;
}

/** An endpoint of which something was released. */
export interface Released {
  readonly endpointId: EndpointId;
  readonly workspaceId: WorkspaceId;
}

/**
 * Lets suspects that are due go on, the least suspect first: 50 in flight at once of those lost once, 8 of those lost
 * twice, then one alone. An outcome of any kind clears its delivery. One process at a time decides, in a transaction whose
 * second statement sees what others have committed.
 * @returns the endpoints of free ones; those in runs look for themselves
 */
export async function releaseSuspects(db: Database): Promise<Released[]> {
  const { rows: parked } = await sql`
    SELECT FROM webhook_open WHERE losses > 0 AND parked AND due_at <= now() LIMIT 1`.execute(db);
  if (parked.length === 0) return [];
  return inTransaction(db, async (tx) => {
    const { rows: locks } = await sql<{ mine: boolean }>`
      SELECT pg_try_advisory_xact_lock(hashtext('releaseSuspects')) AS mine`.execute(tx);
    if (locks[0]?.mine !== true) return [];
    const { rows } = await sql<Released & { isFree: boolean }>`
      WITH flying AS MATERIALIZED (
        SELECT count(*) AS suspects, coalesce(min(${mostWith}), ${AT_ONCE}) AS most FROM webhook_open AS delivery
        WHERE delivery.losses > 0 AND NOT delivery.parked AND (${isUnderWay} OR delivery.due_at > now() - ${RELEASED})
      ), next AS MATERIALIZED (
        SELECT delivery.id, ${mostWith} AS most, delivery.due_at
        FROM webhook_open AS delivery JOIN webhook_endpoints AS endpoint ON endpoint.id = delivery.endpoint_id AND ${isHeard}
        WHERE delivery.losses > 0 AND delivery.parked AND delivery.due_at <= now()
        ORDER BY 2 DESC, delivery.due_at LIMIT ${AT_ONCE}
      ), placed AS MATERIALIZED (
        SELECT id, most, row_number() OVER (ORDER BY most DESC, due_at) AS place FROM next
      )
      UPDATE webhook_open AS delivery SET parked = false, due_at = now()
      WHERE delivery.parked AND delivery.id = ANY (ARRAY(
        SELECT id FROM placed CROSS JOIN flying WHERE flying.suspects + place <= least(flying.most, placed.most)))
      RETURNING delivery.endpoint_id AS "endpointId", delivery.workspace_id AS "workspaceId", ${isFree} AS "isFree"`.execute(
      tx,
    );
    return rows.filter((row) => row.isFree);
  });
}

/**
 * One of those lost together was delivered, so what they have in common did not end the worker: the others that were
 * lost this once wait for nothing but their time.
 */
export async function releaseOthers(db: Database, lostAt: Date): Promise<void> {
  await sql`UPDATE webhook_open SET parked = false WHERE losses = 1 AND parked AND lost_at = ${lostAt}`.execute(
    db,
  );
}
