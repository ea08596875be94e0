import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { DeliveryId, EndpointId, EventId, WorkspaceId } from '../../ids.ts';
import { isInForce } from '../pace/pace.ts';
import type { LostAttempt } from './lost.ts';
import { eventOf, isHeard, isLiving } from './states.ts';

/** What an attempt needs, except the secret, which is read when it begins. */
export interface DeliveryInRun {
  readonly workspaceId: WorkspaceId;
  readonly endpointId: EndpointId;
  readonly eventId: EventId;
  readonly attempts: number;
  readonly url: string;
  readonly eventType: string;
  readonly createdAt: Date;
  readonly body: Buffer;
  /** Of what stored the event. */
  readonly traceparent: string | null;
  /** An attempt that an earlier execution has begun and that has no outcome. */
  readonly lost?: LostAttempt | null;
  /** Whether it waits for its release after a loss. */
  readonly parked?: boolean;
  /** Whether nothing may begin when it was read, as after a pause; of one that was just claimed something may. */
  readonly silenced?: boolean;
  /** The epoch of the endpoint's pace when it was read or claimed; 0 without one. */
  readonly paceEpoch: number;
  /** Whether a request of the pace is spent for it. */
  readonly isPaid?: true;
}

/** An open delivery of a run; undefined when it has ended. */
export async function readInRun(db: Database, deliveryId: DeliveryId): Promise<DeliveryInRun | undefined> {
  return (
    db
      .selectFrom('webhook_open as delivery')
      .innerJoin('webhook_endpoints as endpoint', 'endpoint.id', 'delivery.endpoint_id')
      // One lookup, whatever Postgres believes the partition to hold.
      .innerJoinLateral(
        (events) =>
          events
            .selectFrom('events')
            .select(['body', 'traceparent'])
            .whereRef('events.id', '=', 'delivery.event_id')
            .whereRef('events.created_at', '=', 'delivery.event_created_at')
            .whereRef('events.workspace_id', '=', 'delivery.workspace_id')
            .limit(1)
            .as('event'),
        (join) => join.onTrue(),
      )
      .select([
        'delivery.attempts',
        sql<LostAttempt | null>`CASE WHEN delivery.begun > delivery.attempts
        THEN jsonb_build_object('token', delivery.begun_token) END`.as('lost'),
        'delivery.parked',
        'delivery.workspace_id as workspaceId',
        'delivery.endpoint_id as endpointId',
        'delivery.event_id as eventId',
        'endpoint.url',
        'delivery.event_type as eventType',
        'delivery.created_at as createdAt',
        'event.body',
        'event.traceparent',
        sql<boolean>`NOT ${isHeard}`.as('silenced'),
        sql<number>`coalesce((SELECT epoch FROM webhook_paces AS pace
        WHERE pace.endpoint_id = delivery.endpoint_id AND ${isInForce()}), 0)`.as('paceEpoch'),
      ])
      .where('delivery.id', '=', deliveryId)
      .where('delivery.in_run', '=', true)
      .executeTakeFirst()
  );
}

/** What the run of a delivery shows to operators. */
export interface StartedDelivery {
  readonly id: DeliveryId;
  readonly workspaceId: WorkspaceId;
  readonly endpointId: EndpointId;
  readonly eventType: string;
  readonly attempts: number;
  readonly url: string;
  readonly articleId: string | null;
  readonly requestId: string | null;
}

/** A delivery in a run whose attempt is long overdue. */
export interface OverdueRun extends StartedDelivery {
  /** As Postgres writes it, to the microsecond: the next page begins after it. */
  readonly dueAt: string;
}

/** Where a page of them ended. */
export type RunPlace = Pick<OverdueRun, 'endpointId' | 'dueAt' | 'id'>;

/** Deliveries of a page, which may be processed in parallel. */
const PAGE = 20;

/**
 * Every delivery in a run whose attempt is overdue by `ageMs` milliseconds, page by page, along the index of those in
 * runs. Includes deliveries whose event is gone, which end with their run; not those of paused endpoints and of deleted and suspended workspaces,
 * whose runs wait.
 * @param after where an earlier look ended
 */
export async function* overdueRuns(
  db: Database,
  ageMs: number,
  after: RunPlace | null = null,
): AsyncGenerator<readonly OverdueRun[]> {
  for (let last: RunPlace | undefined = after ?? undefined, isMore = true; isMore; ) {
    const { rows } = await sql<OverdueRun>`
      SELECT delivery.id, delivery.workspace_id AS "workspaceId", delivery.endpoint_id AS "endpointId",
        delivery.event_type AS "eventType", delivery.attempts, endpoint.url,
        event.article_id AS "articleId", event.request_id AS "requestId", delivery.due_at::text AS "dueAt"
      FROM webhook_open AS delivery
      JOIN webhook_endpoints AS endpoint ON endpoint.id = delivery.endpoint_id AND ${isLiving} AND ${isHeard}
      LEFT JOIN LATERAL (SELECT article_id, request_id ${eventOf('delivery')}) AS event ON true
      WHERE delivery.in_run AND delivery.due_at < now() - make_interval(secs => ${ageMs / 1_000})
        AND (${last === undefined}::boolean OR (delivery.endpoint_id, delivery.due_at, uuid_send(delivery.id))
          > (${last?.endpointId}::uuid, ${last?.dueAt}::timestamptz, uuid_send(${last?.id}::uuid)))
      ORDER BY delivery.endpoint_id, delivery.due_at, uuid_send(delivery.id) LIMIT ${PAGE}`.execute(db);
    yield rows;
    last = rows.at(-1);
    isMore = rows.length === PAGE;
  }
}
