import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { iso } from '../../fields.ts';
import type { EndpointId } from '../../ids.ts';
import { isHeard } from '../deliveries/states.ts';
import { noSuchEndpoint } from '../endpoints/queries.ts';
import type { EndpointHealth } from '../schemas.ts';
import { type Bucket, p95Of } from './buckets.ts';
import { FAILING_HOURS } from './disable-failing.ts';

const HOUR_MS = 3_600_000;
/** From then on a failing endpoint is warned of being disabled. */
const WARNED_HOURS = 48;
const MAX_OPEN = 10_000;

interface Row {
  readonly active: boolean;
  readonly paused: boolean;
  readonly lastSuccessAt: Date | null;
  readonly failingSince: Date | null;
  readonly failed: number | null;
  readonly hours: readonly (Bucket & { readonly succeeded: boolean })[];
  readonly open: number;
  readonly nextDueAt: Date | null;
  readonly behindSince: Date | null;
  readonly behindEvents: number | null;
  readonly missedFrom: Date | null;
  readonly missedTo: Date | null;
  readonly failingHours: number | null;
}

function statusOf({ active, paused, failingHours }: Row): EndpointHealth['status'] {
  if (!active) return 'disabled';
  if (paused) return 'paused';
  if (failingHours === null) return 'ok';
  return failingHours >= WARNED_HOURS ? 'warning' : 'failing';
}

/**
 * How an endpoint fares (contract.md W69 and W106): its last success, what has failed since, its attempts of a day, and what waits.
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function readHealth(
  { db, actor }: VerbContext,
  endpointId: EndpointId,
): Promise<EndpointHealth> {
  requirePermissions(actor, 'integrations.read');
  const { rows } = await sql<Row>`
    SELECT endpoint.active, endpoint.paused_at IS NOT NULL AS paused,
      health.last_success_at AS "lastSuccessAt", health.failing_since AS "failingSince", health.failed,
      (extract(epoch FROM now() - health.failing_since) / 3600)::float8 AS "failingHours",
      (SELECT coalesce(jsonb_agg(day), '[]') FROM (
         SELECT bucket, succeeded, sum(attempts)::integer AS attempts FROM webhook_hours
         WHERE endpoint_id = endpoint.id AND hour > now() - interval '24 hours' GROUP BY bucket, succeeded) AS day) AS hours,
      (SELECT count(*)::integer FROM (
         SELECT FROM webhook_open WHERE endpoint_id = endpoint.id LIMIT ${MAX_OPEN}) AS few) AS open,
      (SELECT due_at FROM webhook_open WHERE endpoint_id = endpoint.id AND endpoint.active AND ${isHeard}
       ORDER BY due_at LIMIT 1) AS "nextDueAt",
      backlog.created_at AS "behindSince",
      coalesce((SELECT number FROM event_counters WHERE workspace_id = endpoint.workspace_id), 0) - backlog.behind_from
        AS "behindEvents",
      missed.from_at AS "missedFrom", missed.to_at AS "missedTo"
    FROM webhook_endpoints AS endpoint LEFT JOIN webhook_health AS health ON health.endpoint_id = endpoint.id
    LEFT JOIN webhook_backlogs AS backlog ON backlog.endpoint_id = endpoint.id AND NOT backlog.closing
    LEFT JOIN webhook_missed AS missed ON missed.endpoint_id = endpoint.id
    WHERE endpoint.id = ${endpointId} AND endpoint.workspace_id = ${actor.workspaceId}
      AND endpoint.deleted_at IS NULL`.execute(db);
  const [row] = rows;
  if (row === undefined) throw noSuchEndpoint();
  const { lastSuccessAt, failingSince, failed, hours, open, nextDueAt } = row;
  const count = (of: Row['hours']) => of.reduce((sum, { attempts }) => sum + attempts, 0);
  const attempts = count(hours);
  const succeeded = count(hours.filter((hour) => hour.succeeded));
  const status = statusOf(row);
  return {
    status,
    lastSuccessAt: iso(lastSuccessAt),
    failingSince: iso(failingSince),
    failedDeliveries: failed ?? 0,
    disabledFrom:
      status === 'warning' && failingSince !== null
        ? iso(new Date(failingSince.getTime() + FAILING_HOURS * HOUR_MS))
        : null,
    day: {
      attempts,
      succeeded,
      successRate: attempts === 0 ? null : succeeded / attempts,
      p95Ms: p95Of(hours),
    },
    open,
    nextAttemptAt: iso(nextDueAt),
    behind: row.behindSince === null ? null : { since: iso(row.behindSince), events: row.behindEvents ?? 0 },
    missed:
      row.missedFrom === null || row.missedTo === null
        ? null
        : { from: iso(row.missedFrom), to: iso(row.missedTo) },
  };
}
