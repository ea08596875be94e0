import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { executePrepared } from '../../db/prepared.ts';
import type { BurstId, DeliveryId, EndpointId, WorkspaceId } from '../../ids.ts';
import { isFree, isLiving } from '../deliveries/states.ts';

/** An endpoint with at most so many due deliveries gets runs for them. */
export const FEW_DUE = 5;
/** And no more of its deliveries than this are in runs at once. */
const MAX_IN_RUNS = 20;

/** A delivery that this process has claimed, with everything its attempt needs but the secret. */
export interface ClaimedDelivery {
  readonly id: DeliveryId;
  readonly workspaceId: WorkspaceId;
  readonly endpointId: EndpointId;
  readonly eventType: string;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly url: string;
  readonly body: Buffer;
  readonly articleId: string | null;
  readonly requestId: string | null;
  readonly inRun: boolean;
}

/** What a claim has seen of an endpoint. */
export interface SeenEndpoint {
  readonly id: EndpointId;
  readonly workspaceId: WorkspaceId;
  readonly active: boolean;
  /** Due deliveries that nobody has, counted up to six; those claimed now included. */
  readonly due: number;
  /** Seconds until the next one is due, when none is; null when none waits. */
  readonly nextDueIn: number | null;
  /** `due_at` of the last one that was claimed; null when none was. */
  readonly claimedUpTo: Date | null;
}

/** An endpoint to claim of. */
export interface Candidate {
  readonly endpointId: EndpointId;
  /** Where to look from: what lies before has been claimed, and leaves dead entries in the index. */
  readonly dueFrom: Date | '-infinity';
  /** How many a burst may take of it. */
  readonly room: number;
}

export interface ClaimOptions {
  /** Those that come first are served first. */
  readonly candidates: readonly Candidate[];
  /** Whether to look for further endpoints as well. What is theirs gets runs, or is only seen. */
  readonly isLook: boolean;
  /** How many to claim at most. */
  readonly limit: number;
  /** Runs that may be started now. */
  readonly tokens: number;
  /** The burst that takes what gets no run; null when none is open here. */
  readonly burstId: BurstId | null;
}

export interface Claim {
  readonly deliveries: readonly ClaimedDelivery[];
  readonly endpoints: readonly SeenEndpoint[];
}

interface Row
  extends Omit<ClaimedDelivery, 'id' | 'endpointId' | 'workspaceId'>,
    Omit<SeenEndpoint, 'id' | 'workspaceId'> {
  readonly deliveryId: DeliveryId | null;
  readonly endpointId: EndpointId;
  readonly workspaceId: WorkspaceId;
}

const dueOf = (endpoint: string): RawBuilder<boolean> => sql`
  delivery.endpoint_id = ${sql.ref(`${endpoint}.endpoint_id`)} AND delivery.due_at >= ${sql.ref(`${endpoint}.due_from`)}
  AND delivery.due_at <= now() AND ${isFree}`;

/**
 * Claims what is due, the oldest of each endpoint first, without waiting for any lock. The way is decided for each
 * endpoint here and now: its deliveries get runs of their own when there are few of them, few of it are in runs, and
 * there are tokens; else they are the burst's, as far as it has room and is still open.
 *
 * Endpoints are found by skipping along the index from one to the next, so that a look costs the number of endpoints
 * and not that of their deliveries.
 */
export async function claimDue(db: Database, options: ClaimOptions): Promise<Claim> {
  const { candidates, isLook, limit, tokens, burstId } = options;
  const query = sql<Row>`
    WITH RECURSIVE given AS MATERIALIZED (
      SELECT * FROM unnest(${candidates.map(({ endpointId }) => endpointId)}::uuid[],
        ${candidates.map(({ dueFrom }) => dueFrom)}::timestamptz[], ${candidates.map(({ room }) => room)}::integer[])
        WITH ORDINALITY AS given (endpoint_id, due_from, room, position)
    ), waiting (endpoint_id) AS (
      (SELECT endpoint_id FROM webhook_open WHERE ${isLook}::boolean ORDER BY endpoint_id LIMIT 1)
      UNION ALL
      SELECT (SELECT endpoint_id FROM webhook_open WHERE endpoint_id > waiting.endpoint_id
              ORDER BY endpoint_id LIMIT 1)
      FROM waiting WHERE waiting.endpoint_id IS NOT NULL
    ), found AS MATERIALIZED (
      SELECT endpoint_id, '-infinity'::timestamptz AS due_from, 0 AS room, NULL::bigint AS position
      FROM waiting WHERE endpoint_id IS NOT NULL AND endpoint_id NOT IN (SELECT endpoint_id FROM given)
    ), seen AS MATERIALIZED (
      SELECT candidate.*, endpoint.workspace_id, endpoint.url, endpoint.active,
        (SELECT count(*) FROM (SELECT FROM webhook_open AS delivery WHERE ${dueOf('candidate')}
                               ORDER BY delivery.due_at LIMIT ${FEW_DUE + 1}) AS few)::integer AS due,
        (SELECT extract(epoch FROM delivery.due_at - now()) FROM webhook_open AS delivery
         WHERE delivery.endpoint_id = candidate.endpoint_id AND delivery.due_at > now() AND ${isFree}
         ORDER BY delivery.due_at LIMIT 1)::float8 AS next_due_in
      FROM (SELECT * FROM given UNION ALL SELECT * FROM found) AS candidate
      JOIN webhook_endpoints AS endpoint ON endpoint.id = candidate.endpoint_id AND ${isLiving}
    ), few AS (
      SELECT endpoint_id, position, due, ${MAX_IN_RUNS} - (
        SELECT count(*) FROM (SELECT FROM webhook_open AS delivery
          WHERE delivery.endpoint_id = seen.endpoint_id AND delivery.in_run LIMIT ${MAX_IN_RUNS}) AS runs)::integer AS places
      FROM seen WHERE active AND due BETWEEN 1 AND ${FEW_DUE} AND ${tokens}::integer > 0
    ), into_runs AS (
      SELECT endpoint_id, sum(due) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) <= ${tokens}::integer AS affordable
      FROM few WHERE places >= due
    ), burst AS MATERIALIZED (
      SELECT id FROM webhook_bursts WHERE id = ${burstId}::uuid FOR KEY SHARE
    ), way AS MATERIALIZED (
      SELECT seen.*, coalesce(into_runs.affordable, false) AS in_run,
        CASE WHEN into_runs.affordable THEN ${FEW_DUE} ELSE seen.room * (SELECT count(*) FROM burst) END AS most
      FROM seen LEFT JOIN into_runs USING (endpoint_id)
      WHERE seen.active AND seen.due > 0
      ORDER BY position
    ), picked AS MATERIALIZED (
      SELECT next.id, way.in_run
      FROM way CROSS JOIN LATERAL (
        SELECT delivery.id FROM webhook_open AS delivery WHERE ${dueOf('way')}
        ORDER BY delivery.due_at, delivery.id LIMIT way.most FOR NO KEY UPDATE SKIP LOCKED
      ) AS next
      LIMIT ${limit}
    ), claimed AS (
      UPDATE webhook_open AS delivery
      SET in_run = picked.in_run, burst_id = CASE WHEN picked.in_run THEN NULL ELSE ${burstId}::uuid END
      FROM picked WHERE delivery.id = picked.id
      RETURNING delivery.*
    )
    SELECT seen.endpoint_id AS "endpointId", seen.workspace_id AS "workspaceId", seen.url, seen.active, seen.due,
      seen.next_due_in AS "nextDueIn",
      max(claimed.due_at) OVER (PARTITION BY seen.endpoint_id) AS "claimedUpTo",
      claimed.id AS "deliveryId", claimed.event_type AS "eventType", claimed.attempts, claimed.in_run AS "inRun",
      claimed.created_at AS "createdAt", event.body, event.article_id AS "articleId", event.request_id AS "requestId"
    FROM seen
    LEFT JOIN claimed ON claimed.endpoint_id = seen.endpoint_id
    LEFT JOIN events AS event ON event.id = claimed.event_id AND event.created_at = claimed.event_created_at
    ORDER BY claimed.due_at, claimed.id`;
  const { rows } = await executePrepared(db, 'claim_due', query);
  const endpoints = new Map<EndpointId, SeenEndpoint>();
  const deliveries: ClaimedDelivery[] = [];
  for (const row of rows) {
    const { endpointId, workspaceId, active, due, nextDueIn, claimedUpTo, deliveryId, ...delivery } = row;
    endpoints.set(endpointId, { id: endpointId, workspaceId, active, due, nextDueIn, claimedUpTo });
    if (deliveryId !== null) deliveries.push({ ...delivery, id: deliveryId, endpointId, workspaceId });
  }
  return { deliveries, endpoints: [...endpoints.values()] };
}
