import { type RawBuilder, sql } from 'kysely';
import type { Queryable } from '../../db/database.ts';
import type { EndpointId, WorkspaceId } from '../../ids.ts';
import { isHeard } from './states.ts';

/** Endpoints per list. */
const SHOWN = 10;

/** Open deliveries of one endpoint. */
export interface EndpointQueue {
  readonly endpointId: EndpointId;
  readonly workspaceId: WorkspaceId;
  readonly active: boolean;
  /** Whether it is paused, or its workspace deleted or suspended: nothing is sent to it. */
  readonly silenced: boolean;
  readonly open: number;
  /** Of these, those held by a run of their own, and by a burst. */
  readonly inRuns: number;
  readonly inBursts: number;
  /** Of these, the due ones. */
  readonly due: number;
  /** How long the earliest due has been due, in whole seconds; 0 when none is. */
  readonly oldestDueSeconds: number;
}

export interface DeliveryQueue {
  readonly open: number;
  readonly endpoints: number;
  /** The endpoints whose deliveries have been due longest. */
  readonly oldest: readonly EndpointQueue[];
  /** The endpoints with the most open deliveries. */
  readonly longest: readonly EndpointQueue[];
}

/** Open deliveries by endpoint. Reads all of them once: for an operator, not for a request. */
export async function readQueue(db: Queryable): Promise<DeliveryQueue> {
  const first = (order: RawBuilder<unknown>) => sql`(
    SELECT coalesce(json_agg(shown), '[]') FROM (
      SELECT endpoint_id AS "endpointId", workspace_id AS "workspaceId", active, silenced, open, in_runs AS "inRuns",
        in_bursts AS "inBursts", due,
        GREATEST(0, floor(extract(epoch FROM now() - first)))::integer AS "oldestDueSeconds"
      FROM queue ORDER BY ${order}, endpoint_id LIMIT ${SHOWN}) AS shown)`;
  const { rows } = await sql<DeliveryQueue>`
    WITH queue AS MATERIALIZED (
      SELECT endpoint_id, open.workspace_id, endpoint.active,
        NOT ${isHeard} AS silenced, count(*)::integer AS open,
        count(*) FILTER (WHERE in_run)::integer AS in_runs, count(burst_id)::integer AS in_bursts,
        count(*) FILTER (WHERE due_at <= now())::integer AS due, min(due_at) AS first
      FROM webhook_open AS open
      JOIN webhook_endpoints AS endpoint ON endpoint.id = endpoint_id AND endpoint.deleted_at IS NULL
      GROUP BY endpoint_id, open.workspace_id, endpoint.active, silenced
    )
    SELECT coalesce(sum(open), 0)::integer AS open, count(*)::integer AS endpoints,
      ${first(sql`first`)} AS oldest, ${first(sql`open DESC`)} AS longest
    FROM queue`.execute(db);
  return rows[0] ?? { open: 0, endpoints: 0, oldest: [], longest: [] };
}
