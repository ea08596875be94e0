import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Queryable, Tx } from '../../db/database.ts';
import type { DeliveryStatus, Tables } from '../../db/tables.ts';
import { notFound } from '../../errors.ts';
import type { EventType } from '../../events/catalog.ts';
import { iso } from '../../fields.ts';
import { type DeliveryId, type EndpointId, instantOf, type WorkspaceId } from '../../ids.ts';
import { burstWorkflowId, deliveryWorkflowId } from '../../temporal/ids.ts';
import type { OpenDelivery, WebhookDelivery } from '../schemas.ts';

/** contract.md W4. */
const RECENT = 50;
const DAY_MS = 86_400_000;

/** A delivery as either table has it; `deliveredAt` is null while it is open, `dueAt` once it has ended. */
export type DeliveryRow = Omit<Selectable<Tables['webhook_log']>, 'attempt_log' | 'event_type'> & {
  readonly event_type: EventType;
  readonly due_at: Date | null;
};

const SUMMARY = sql`id, endpoint_id, event_type, status, attempts, response_status, error_message, in_run, burst_id,
  created_at`;
const SHARED = sql`id, workspace_id, endpoint_id, event_id, event_created_at, event_type, status, attempts,
  response_status, error_message, attempt_log, in_run, burst_id, created_at`;

/** SQL: SELECT … FROM, to be followed by WHERE. Both have the same columns. */
export const FROM_OPEN = sql`SELECT ${SHARED}, due_at, NULL::timestamptz AS delivered_at FROM webhook_open`;
export const FROM_LOG = sql`SELECT ${SHARED}, NULL::timestamptz AS due_at, delivered_at FROM webhook_log`;

/** SQL over a row of the log: matches the id, and its partition. Every delivery's id has an instant. */
function hasId(id: DeliveryId): RawBuilder<boolean> {
  const instant = instantOf(id);
  return instant === null ? sql`false` : sql`id = ${id} AND created_at = ${instant}`;
}

/** SQL: the delivery, open or ended, of an endpoint that is not deleted. */
export const deliveryOf = (workspaceId: WorkspaceId, id: DeliveryId): RawBuilder<DeliveryRow> => sql`
  SELECT delivery.* FROM (
    ${FROM_OPEN} WHERE id = ${id} UNION ALL ${FROM_LOG} WHERE ${hasId(id)}
  ) AS delivery
  JOIN webhook_endpoints AS endpoint ON endpoint.id = delivery.endpoint_id AND endpoint.deleted_at IS NULL
  WHERE delivery.workspace_id = ${workspaceId}`;

/** A delivery as the API returns it. */
export type DeliveryItem = WebhookDelivery & { readonly id: DeliveryId; readonly endpointId: EndpointId };

export const toDelivery = (row: DeliveryRow): DeliveryItem => ({
  id: row.id,
  endpointId: row.endpoint_id,
  eventType: row.event_type,
  status: row.status,
  attempts: row.attempts,
  responseStatus: row.response_status,
  errorMessage: row.error_message,
  deliveredAt: iso(row.delivered_at),
  createdAt: iso(row.created_at),
});

export const toOpenDelivery = (row: DeliveryRow): OpenDelivery => ({
  ...toDelivery(row),
  nextAttemptAt: iso(row.due_at),
  workflowId: row.in_run
    ? deliveryWorkflowId(row.id)
    : row.burst_id === null
      ? null
      : burstWorkflowId(row.burst_id),
});

export const noSuchDelivery = () => notFound('webhook delivery');

const SCANS = [
  [FROM_OPEN, 'pending'],
  [FROM_OPEN, 'failed'],
  [FROM_LOG, 'succeeded'],
  [FROM_LOG, 'failed'],
] as const;

/**
 * The newest deliveries over all endpoints of the workspace, newest first: a short scan per status and table. Skips
 * partitions before `from` and future ones.
 */
async function selectNewest(
  db: Queryable,
  workspaceId: WorkspaceId,
  wanted: DeliveryStatus | undefined,
  deleted: readonly EndpointId[],
  from: Date | null,
): Promise<DeliveryRow[]> {
  // Only where there are some: Postgres misjudges this condition's weight, and would leave the index's order.
  const living = deleted.length === 0 ? sql`true` : sql`endpoint_id <> ALL (${deleted}::uuid[])`;
  const scans = SCANS.filter(([, status]) => wanted === undefined || status === wanted).map(
    ([rows, status]) => sql`(
      ${rows} WHERE workspace_id = ${workspaceId} AND status = ${status}
        AND created_at >= ${from ?? '-infinity'}::timestamptz AND created_at < ${new Date(Date.now() + DAY_MS)}
        AND ${living}
      ORDER BY created_at DESC, id DESC LIMIT ${RECENT})`,
  );
  const { rows } = await sql<DeliveryRow>`
    SELECT ${SUMMARY}, due_at, delivered_at FROM (${sql.join(scans, sql` UNION ALL `)}) AS delivery
    ORDER BY created_at DESC, id DESC LIMIT ${RECENT}`.execute(db);
  return rows;
}

/** The newest deliveries over all endpoints of the workspace, newest first (contract.md W4). */
export async function selectRecentDeliveries(
  db: Queryable,
  workspaceId: WorkspaceId,
  status: DeliveryStatus | undefined,
): Promise<DeliveryItem[]> {
  const endpoints = await db
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is not', null)
    .execute();
  const deleted = endpoints.map(({ id }) => id);
  const yesterday = new Date(Date.now() - DAY_MS);
  const latest = await selectNewest(db, workspaceId, status, deleted, yesterday);
  const rows = latest.length === RECENT ? latest : await selectNewest(db, workspaceId, status, deleted, null);
  return rows.map(toDelivery);
}

/** One delivery as lists show it; undefined when the workspace has none with this id. */
export async function selectSummary(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: DeliveryId,
): Promise<DeliveryItem | undefined> {
  const { rows } = await sql<DeliveryRow>`
    SELECT ${SUMMARY}, delivered_at FROM (${deliveryOf(workspaceId, id)}) AS delivery`.execute(db);
  const [row] = rows;
  return row === undefined ? undefined : toDelivery(row);
}

/** SQL: the INSERT that queues the rows of a CTE `source` again, under new ids. */
export const REQUEUE = sql`
  INSERT INTO webhook_open (id, workspace_id, endpoint_id, event_id, event_created_at, event_type, created_at)
  SELECT id, workspace_id, endpoint_id, event_id, event_created_at, event_type, uuid_extract_timestamp(id)
  FROM source`;

/**
 * SQL over `delivery`: whether its event still exists; keeps its partition until this transaction ends. OFFSET makes
 * the planner look up one event per delivery instead of reading them all.
 */
export const HAS_EVENT = sql`EXISTS (
  SELECT FROM events AS event WHERE event.id = delivery.event_id AND event.created_at = delivery.event_created_at
  OFFSET 0)`;

/** Queues one delivery's event again under a new id; undefined when the delivery or its event is gone. */
export async function insertRedelivery(
  tx: Tx,
  workspaceId: WorkspaceId,
  id: DeliveryId,
): Promise<DeliveryItem | undefined> {
  const { rows } = await sql<DeliveryRow>`
    WITH source AS MATERIALIZED (
      SELECT uuidv7() AS id, workspace_id, endpoint_id, event_id, event_created_at, event_type
      FROM (${deliveryOf(workspaceId, id)}) AS delivery WHERE ${HAS_EVENT}
    ), queued AS (${REQUEUE} RETURNING *)
    SELECT ${SUMMARY}, due_at, NULL::timestamptz AS delivered_at FROM queued`.execute(tx);
  const [row] = rows;
  return row === undefined ? undefined : toDelivery(row);
}
