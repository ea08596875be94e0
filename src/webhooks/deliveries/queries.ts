import { type Selectable, sql } from 'kysely';
import type { Database, Queryable, Tx } from '../../db/database.ts';
import type { DeliveryStatus, Tables } from '../../db/tables.ts';
import { notFound } from '../../errors.ts';
import { OUTBOX_CHANNEL } from '../../events/record.ts';
import { iso } from '../../fields.ts';
import type { DeliveryId, EndpointId, WorkspaceId } from '../../ids.ts';
import { burstWorkflowId, deliveryWorkflowId } from '../../temporal/ids.ts';
import type { WebhookDelivery, WebhookDeliveryDetail } from '../schemas.ts';

/** contract.md W4. */
const RECENT = 50;

/** A delivery on the wire. */
export interface DeliveryItem extends Omit<WebhookDelivery, 'eventType'> {
  readonly eventType: string;
}

export type DeliveryDetail = DeliveryItem &
  Pick<WebhookDeliveryDetail, 'nextAttemptAt' | 'workflowId' | 'body' | 'attemptLog'>;

const deliveryColumns = [
  'id',
  'endpoint_id',
  'event_type',
  'status',
  'attempts',
  'response_status',
  'error_message',
  'delivered_at',
  'created_at',
] as const satisfies readonly (keyof Tables['webhook_deliveries'])[];

type DeliveryRow = Pick<Selectable<Tables['webhook_deliveries']>, (typeof deliveryColumns)[number]>;

const toDelivery = (row: DeliveryRow): DeliveryItem => ({
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

export const noSuchDelivery = () => notFound('webhook delivery');

/** The newest deliveries over all endpoints of the workspace, newest first. */
export async function selectRecentDeliveries(
  db: Queryable,
  workspaceId: WorkspaceId,
  status: DeliveryStatus | undefined,
): Promise<DeliveryItem[]> {
  let query = db
    .selectFrom('webhook_deliveries')
    .select(deliveryColumns)
    .where('workspace_id', '=', workspaceId);
  if (status !== undefined) query = query.where('status', '=', status);
  const rows = await query.orderBy('created_at', 'desc').orderBy('seq', 'desc').limit(RECENT).execute();
  return rows.map(toDelivery);
}

/** One delivery with its body and attempts, all of one moment; undefined when the workspace has none such. */
export async function selectDelivery(
  db: Database,
  workspaceId: WorkspaceId,
  deliveryId: DeliveryId,
): Promise<DeliveryDetail | undefined> {
  const rows = await db
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('events as event', 'event.id', 'delivery.event_id')
    .leftJoin('webhook_attempts as attempt', 'attempt.delivery_id', 'delivery.id')
    .select([
      'delivery.id',
      'delivery.endpoint_id',
      'delivery.event_type',
      'delivery.status',
      'delivery.attempts',
      'delivery.response_status',
      'delivery.error_message',
      'delivery.delivered_at',
      'delivery.created_at',
      'delivery.next_attempt_at',
      'delivery.burst_id',
      'event.body',
      'attempt.number',
      'attempt.started_at',
      'attempt.duration_ms',
      'attempt.response_status as attempt_status',
      'attempt.error_message as attempt_error',
      'attempt.response_body',
    ])
    .where('delivery.workspace_id', '=', workspaceId)
    .where('delivery.id', '=', deliveryId)
    .orderBy('attempt.number')
    .execute();
  const [first] = rows;
  if (first === undefined) return undefined;
  return {
    ...toDelivery(first),
    nextAttemptAt: iso(first.next_attempt_at),
    workflowId: first.burst_id === null ? deliveryWorkflowId(first.id) : burstWorkflowId(first.burst_id),
    body: first.body.toString('utf8'),
    attemptLog: rows.flatMap((row) =>
      row.number === null || row.started_at === null || row.duration_ms === null
        ? []
        : {
            number: row.number,
            startedAt: iso(row.started_at),
            durationMs: row.duration_ms,
            responseStatus: row.attempt_status,
            errorMessage: row.attempt_error,
            responseBody: row.response_body,
          },
    ),
  };
}

/** The endpoint of a delivery of the workspace, or undefined. */
export async function selectEndpointOf(
  tx: Tx,
  workspaceId: WorkspaceId,
  deliveryId: DeliveryId,
): Promise<EndpointId | undefined> {
  const row = await tx
    .selectFrom('webhook_deliveries')
    .select('endpoint_id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', deliveryId)
    .executeTakeFirst();
  return row?.endpoint_id;
}

/**
 * Queues one delivery's event once more under a new id; undefined when the delivery is gone. The old row is
 * held until the transaction ends, so that its event is not pruned in between.
 */
export async function insertRedelivery(
  tx: Tx,
  deliveryId: DeliveryId,
  newDeliveryId: DeliveryId,
): Promise<DeliveryItem | undefined> {
  const row = await tx
    .with('source', (query) =>
      query
        .selectFrom('webhook_deliveries')
        .select(['workspace_id', 'endpoint_id', 'event_id', 'event_type'])
        .where('id', '=', deliveryId)
        .forKeyShare(),
    )
    .insertInto('webhook_deliveries')
    .columns(['id', 'workspace_id', 'endpoint_id', 'event_id', 'event_type', 'next_attempt_at'])
    .expression((query) =>
      query
        .selectFrom('source')
        .select([
          sql<DeliveryId>`${newDeliveryId}::uuid`.as('id'),
          'workspace_id',
          'endpoint_id',
          'event_id',
          'event_type',
          sql<Date>`now()`.as('next_attempt_at'),
        ]),
    )
    .returning(deliveryColumns)
    .executeTakeFirst();
  return row === undefined ? undefined : toDelivery(row);
}

/**
 * Queues the events of an endpoint's failed deliveries once more, the oldest first. A delivery is left out while
 * it may still be retried, and when a newer one carries the same event: asking again doubles nothing, and goes
 * on where `limit` ended.
 * @returns how many were queued
 */
export async function insertRedeliveriesOfFailed(
  tx: Tx,
  endpointId: EndpointId,
  since: Date,
  limit: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    WITH latest AS (
      SELECT DISTINCT ON (event_id) id, seq, status, ended_at
      FROM webhook_deliveries
      WHERE endpoint_id = ${endpointId} AND created_at >= ${iso(since)}::timestamptz
      ORDER BY event_id, seq DESC
    ), failed AS (
      SELECT id FROM latest WHERE status = 'failed' AND ended_at IS NOT NULL ORDER BY seq LIMIT ${limit}
    ), source AS MATERIALIZED (
      SELECT delivery.workspace_id, delivery.endpoint_id, delivery.event_id, delivery.event_type, delivery.seq
      FROM failed JOIN webhook_deliveries AS delivery USING (id)
      FOR KEY SHARE OF delivery
    ), queued AS (
      INSERT INTO webhook_deliveries (id, workspace_id, endpoint_id, event_id, event_type, next_attempt_at)
      SELECT gen_random_uuid(), workspace_id, endpoint_id, event_id, event_type, now()
      FROM source ORDER BY seq
      RETURNING 1
    )
    SELECT count(*)::integer AS count FROM queued
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Tells the relays, once this transaction commits, that the outbox has new rows. */
export async function notifyOutbox(tx: Tx): Promise<void> {
  await sql`SELECT pg_notify(${OUTBOX_CHANNEL}, '')`.execute(tx);
}
