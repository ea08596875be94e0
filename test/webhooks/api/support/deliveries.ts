import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../../src/db/database.ts';
import type { BurstId, DeliveryId, EndpointId } from '../../../../src/ids.ts';
import type { TestWorkspace } from '../../../support/service.ts';

export interface StoredDeliveries {
  readonly count: number;
  /** `failed` and `succeeded` have ended; of the others `waiting` is in a run, after its first attempt. */
  readonly state: 'pending' | 'waiting' | 'failed' | 'succeeded';
  /** Seconds ago that they were queued, and ended if they have. */
  readonly age?: number;
  /** Who has a pending one; nobody unless given. */
  readonly holder?: { readonly in_run?: boolean; readonly burst_id?: BurstId };
  /** When a pending one is due; now unless given. */
  readonly due?: RawBuilder<Date>;
  /** False where many are stored and nobody asks for what they say. */
  readonly withEvents?: boolean;
}

/** Stores deliveries of an endpoint, each with an event of its own and, once attempted, one attempt */
export async function storeDeliveries(
  db: Database,
  workspace: Pick<TestWorkspace, 'id'>,
  endpointId: EndpointId,
  { count, state, age = 0, holder = {}, due = sql<Date>`now()`, withEvents = true }: StoredDeliveries,
): Promise<DeliveryId[]> {
  const attempt = JSON.stringify([
    {
      number: 1,
      startedAt: new Date(),
      durationMs: 5,
      responseStatus: 500,
      errorMessage: null,
      responseBody: '',
    },
  ]);
  const columns = sql`id, workspace_id, endpoint_id, event_id, event_created_at, event_type, created_at`;
  const queued = sql`
    WITH ids AS MATERIALIZED (
      SELECT uuidv7(make_interval(secs => ${-age})) AS event_id,
        uuidv7(make_interval(secs => ${-age})) AS delivery_id, n
      FROM generate_series(1, ${count}::integer) AS n
    ), stored AS (
      INSERT INTO events (id, workspace_id, type, body, created_at)
      SELECT event_id, ${workspace.id}, 'article.created',
        convert_to('{"event":"article.created","data":{"number":' || n || '}}', 'UTF8'),
        uuid_extract_timestamp(event_id)
      FROM ids WHERE ${withEvents}::boolean
    ), queued AS (
      SELECT delivery_id AS id, ${workspace.id}::uuid AS workspace_id,
        ${endpointId}::uuid AS endpoint_id, event_id, uuid_extract_timestamp(event_id) AS event_created_at, 'article.created' AS event_type,
        uuid_extract_timestamp(delivery_id) AS created_at
      FROM ids
    )`;
  const { in_run = false, burst_id = null } = holder;
  // What a burst has that nobody knows of is freed by the next reconciliation.
  if (burst_id !== null) {
    const open = db.insertInto('webhook_bursts').values({ id: burst_id });
    await open.onConflict((conflict) => conflict.doNothing()).execute();
  }
  const succeeded = state === 'succeeded';
  const insert = {
    pending: sql`INSERT INTO webhook_open (${columns}, in_run, burst_id, due_at)
      SELECT ${columns}, ${in_run}::boolean, ${burst_id}::uuid, ${due} FROM queued`,
    waiting: sql`INSERT INTO webhook_open (${columns}, status, attempts, begun, response_status, error_message,
        attempt_log, due_at, in_run)
      SELECT ${columns}, 'failed', 1, 1, 500, 'The receiver responded with 500.', ${attempt}::jsonb,
        now() + interval '1 hour', true
      FROM queued`,
    ended: sql`INSERT INTO webhook_log (${columns}, status, attempts, response_status, error_message, attempt_log,
        in_run, delivered_at, ended_at)
      SELECT ${columns}, ${state}, 1, ${succeeded ? 204 : 500}::integer,
        ${succeeded ? null : 'The receiver responded with 500.'}::text, ${attempt}::jsonb, true,
        CASE WHEN ${succeeded} THEN created_at END, created_at
      FROM queued`,
  }[state === 'pending' || state === 'waiting' ? state : 'ended'];
  const { rows } = await sql<{ id: DeliveryId }>`${queued} ${insert} RETURNING id`.execute(db);
  return rows.map((row) => row.id);
}
