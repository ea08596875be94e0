import { sql } from 'kysely';
import type { VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { type EventId, newId } from '../ids.ts';
import type { NewEvent } from './catalog.ts';

/** The channel on which relays hear that the outbox has new rows. */
export const OUTBOX_CHANNEL = 'webhook_outbox';

/**
 * Stores events with the exact bytes that will be sent, and one pending delivery for each active endpoint
 * that subscribes to their type, as rows of the caller's transaction: an event exists if and only if its
 * change does. One statement, whatever the number of events.
 *
 * Endpoints are read FOR KEY SHARE first: one that is deleted at the same moment is either waited for and
 * left out, or waits for this transaction; it never fails the change.
 */
export async function recordEvents(
  tx: Tx,
  { actor, requestId }: Pick<VerbContext, 'actor' | 'requestId'>,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const { workspaceId } = actor;
  const ids = events.map(() => newId<EventId>());
  const articleIds = events.map(({ data }) => ('articleId' in data ? data.articleId : null));
  const types = events.map((event) => event.type);
  const bodies = events.map((event) => Buffer.from(JSON.stringify({ event: event.type, data: event.data })));
  await sql`
    WITH input AS (
      SELECT * FROM unnest(${ids}::uuid[], ${types}::text[], ${articleIds}::uuid[], ${bodies}::bytea[])
        WITH ORDINALITY AS input (id, type, article_id, body, position)
    ), stored AS (
      INSERT INTO events (id, workspace_id, type, article_id, body, request_id)
      SELECT id, ${workspaceId}, type, article_id, body, ${requestId} FROM input
    ), subscribers AS MATERIALIZED (
      SELECT id, events FROM webhook_endpoints
      WHERE workspace_id = ${workspaceId} AND active AND events && ${types}::text[]
      ORDER BY id
      FOR KEY SHARE
    ), queued AS (
      INSERT INTO webhook_deliveries (id, workspace_id, endpoint_id, event_id, event_type, next_attempt_at)
      SELECT gen_random_uuid(), ${workspaceId}, subscribers.id, input.id, input.type, now()
      FROM input JOIN subscribers ON input.type = ANY (subscribers.events)
      ORDER BY input.position, subscribers.id
      RETURNING 1
    )
    SELECT pg_notify(${OUTBOX_CHANNEL}, '') WHERE EXISTS (SELECT FROM queued)
  `.execute(tx);
}
