import { sql } from 'kysely';
import type { Database } from '../../../../src/db/database.ts';
import type { EndpointId } from '../../../../src/ids.ts';
import type { TestWorkspace } from '../../../support/service.ts';

export interface StoredDeliveries {
  readonly count: number;
  /** `waiting` is one that Temporal retries, `failed` and `succeeded` have ended, `pending` is in the outbox. */
  readonly state: 'pending' | 'waiting' | 'failed' | 'succeeded';
  /** Seconds ago that they were queued, and ended if they have. */
  readonly age?: number;
}

/** Stores deliveries of an endpoint, each with an event of its own and, once attempted, one attempt. */
export async function storeDeliveries(
  db: Database,
  workspace: TestWorkspace,
  endpointId: EndpointId,
  { count, state, age = 0 }: StoredDeliveries,
): Promise<void> {
  const ended = state === 'failed' || state === 'succeeded';
  const status = state === 'waiting' ? 'failed' : state;
  await sql`
    WITH stored AS (
      INSERT INTO events (id, workspace_id, type, body, created_at)
      SELECT gen_random_uuid(), ${workspace.id}, 'article.created',
        convert_to('{"event":"article.created","data":{"number":' || n || '}}', 'UTF8'),
        now() - make_interval(secs => ${age})
      FROM generate_series(1, ${count}::integer) AS n
      RETURNING id, type, created_at
    ), queued AS (
      INSERT INTO webhook_deliveries (id, workspace_id, endpoint_id, event_id, event_type, status, attempts,
        response_status, error_message, delivered_at, ended_at, next_attempt_at, outbox, created_at)
      SELECT gen_random_uuid(), ${workspace.id}, ${endpointId}, id, type, ${status}, ${state === 'pending' ? 0 : 1},
        ${state === 'pending' ? null : state === 'succeeded' ? 204 : 500}::integer,
        ${status === 'failed' ? 'The receiver answered 500.' : null}::text,
        CASE WHEN ${state === 'succeeded'}::boolean THEN created_at END, CASE WHEN ${ended}::boolean THEN created_at END,
        CASE WHEN NOT ${ended}::boolean THEN created_at + interval '1 hour' END, ${state === 'pending'}, created_at
      FROM stored
      RETURNING id, attempts, created_at
    )
    INSERT INTO webhook_attempts (delivery_id, number, started_at, duration_ms)
    SELECT id, 1, created_at, 5 FROM queued WHERE attempts > 0
  `.execute(db);
}
