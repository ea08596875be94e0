import { sql } from 'kysely';
import type { Queryable } from '../../db/database.ts';
import type { EndpointId, WorkspaceId } from '../../ids.ts';

/** Endpoints that each list shows. */
const SHOWN = 10;

/** What is open for one endpoint. */
export interface EndpointQueue {
  readonly endpointId: EndpointId;
  readonly workspaceId: WorkspaceId;
  readonly active: boolean;
  readonly open: number;
  /** Of these, those that a run of their own has, and those that a burst is sending. */
  readonly inRuns: number;
  readonly inBursts: number;
  /** Of these, those whose time has come. */
  readonly due: number;
  /** How long ago the one that is due first was due, in whole seconds; 0 when none is. */
  readonly oldestDueSeconds: number;
}

export interface DeliveryQueue {
  readonly open: number;
  readonly endpoints: number;
  /** The endpoints whose deliveries have been due for longest. */
  readonly oldest: readonly EndpointQueue[];
  /** The endpoints with most open deliveries. */
  readonly longest: readonly EndpointQueue[];
}

/** What is open, by endpoint. It reads all open deliveries once: for an operator, not for a request. */
export async function readQueue(db: Queryable): Promise<DeliveryQueue> {
  const { rows } = await sql<
    EndpointQueue & { byAge: number; bySize: number; allOpen: number; allEndpoints: number }
  >`
    WITH queue AS (
      SELECT endpoint_id, workspace_id, count(*)::integer AS open,
        count(*) FILTER (WHERE in_run)::integer AS in_runs,
        count(burst_id)::integer AS in_bursts,
        count(*) FILTER (WHERE due_at <= now())::integer AS due, min(due_at) AS first
      FROM webhook_open GROUP BY endpoint_id, workspace_id
    ), ranked AS (
      SELECT queue.*, endpoint.active, row_number() OVER (ORDER BY first, endpoint_id) AS by_age,
        row_number() OVER (ORDER BY open DESC, endpoint_id) AS by_size,
        sum(open) OVER () AS all_open, count(*) OVER () AS all_endpoints
      FROM queue JOIN webhook_endpoints AS endpoint ON endpoint.id = endpoint_id AND endpoint.deleted_at IS NULL
    )
    SELECT endpoint_id AS "endpointId", workspace_id AS "workspaceId", active, open, in_runs AS "inRuns",
      in_bursts AS "inBursts", due,
      GREATEST(0, floor(extract(epoch FROM now() - first)))::integer AS "oldestDueSeconds",
      by_age::integer AS "byAge", by_size::integer AS "bySize", all_open::integer AS "allOpen",
      all_endpoints::integer AS "allEndpoints"
    FROM ranked WHERE by_age <= ${SHOWN} OR by_size <= ${SHOWN}`.execute(db);
  const shown = (rank: 'byAge' | 'bySize') =>
    rows
      .filter((row) => row[rank] <= SHOWN)
      .sort((one, other) => one[rank] - other[rank])
      .map(({ byAge, bySize, allOpen, allEndpoints, ...queue }) => queue);
  return {
    open: rows[0]?.allOpen ?? 0,
    endpoints: rows[0]?.allEndpoints ?? 0,
    oldest: shown('byAge'),
    longest: shown('bySize'),
  };
}
