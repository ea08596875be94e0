import { recordOperation } from '../audit/operator-log.ts';
import { type AuditRecord, auditEntry, recordAudit } from '../audit/record.ts';
import type { Author, Origin } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { lastStatement, textStatement } from '../db/prepared.ts';
import { afterCommit } from '../db/transaction.ts';
import { currentTraceparent } from '../tracing/spans.ts';
import { BEHIND } from './behind.ts';
import type { NewEvent } from './catalog.ts';
import { deliveriesStored, eventsStored } from './stored.ts';

/**
 * Parameters: workspace, request id, then types, article ids and bodies in one order, and the active `traceparent`. The ids
 * have the same order: `uuidv7()` grows within a session. So have the ids of the queue, by which sequencers number the events.
 */
const storing = (alsoDone: string): string => `
   WITH input AS MATERIALIZED (
     SELECT uuidv7() AS id, type, article_id, body
     FROM unnest($3::text[], $4::uuid[], $5::bytea[]) WITH ORDINALITY AS given (type, article_id, body, position)
     ORDER BY position
   ), subscribers AS MATERIALIZED (
     SELECT id, events FROM webhook_endpoints
     WHERE workspace_id = $1 AND deleted_at IS NULL AND active AND events && $3::text[]
     ORDER BY id
     FOR KEY SHARE
   ), behind AS MATERIALIZED (${BEHIND}
   ), deliveries AS MATERIALIZED (
     SELECT uuidv7() AS id, subscribers.id AS endpoint_id, input.id AS event_id, input.type
     FROM input JOIN subscribers ON input.type = ANY (subscribers.events)
     WHERE subscribers.id <> ALL (ARRAY(SELECT endpoint_id FROM behind))
     ORDER BY input.id, subscribers.id
   ), stored AS (
     INSERT INTO events (id, workspace_id, type, article_id, body, request_id, traceparent, created_at, behind)
     SELECT id, $1, type, article_id, body, $2, $6, uuid_extract_timestamp(id), (
       SELECT array_agg(subscribers.id) FROM behind JOIN subscribers ON subscribers.id = behind.endpoint_id
       WHERE input.type = ANY (subscribers.events))
     FROM input
   ), numbered_later AS (
     INSERT INTO event_queue (workspace_id, event_id, event_created_at)
     SELECT $1, id, uuid_extract_timestamp(id) FROM input ORDER BY id
   ), queued AS (
     INSERT INTO webhook_open
       (id, workspace_id, endpoint_id, event_id, event_created_at, event_type, due_at, created_at)
     SELECT id, $1, endpoint_id, event_id, uuid_extract_timestamp(event_id), type, clock_timestamp(),
       uuid_extract_timestamp(id)
     FROM deliveries
   )${alsoDone}
   SELECT count(*)::integer AS deliveries FROM deliveries`;
type Stored = { deliveries: number };
const storeEvents = textStatement<Stored>('record_events', storing(''));
const CHANGE = storing(`, audited AS (
     INSERT INTO audit_entries
       (id, workspace_id, request_id, actor_kind, actor_id, action, target_type, target_id, details, created_at)
     VALUES ($7, $1, $2, $8, $9, $10, $11, $12, $13, clock_timestamp())
   )`);
const storeChange = textStatement<Stored>('record_change', CHANGE);
const storeAndCommit = lastStatement<Stored>('record_change', CHANGE);

/**
 * Stores events with the exact bytes that will be sent and the span that stores them, a row of the queue for each, and one
 * delivery per active endpoint that subscribes to their type and is not behind, as rows of the caller's transaction (one of
 * `inTransaction`). One statement for any number of events. Sequencers and relays are notified after the commit.
 *
 * Endpoints are read FOR KEY SHARE: the last step of deleting one waits for this transaction.
 */
export async function recordEvents(tx: Tx, context: Origin, events: readonly NewEvent[]): Promise<void> {
  if (events.length > 0) notifyAfterCommit(tx, await storeEvents(tx, ...parametersOf(context, events)));
}

/**
 * `recordEvents` together with the change's audit entry, in one statement.
 * @param isLast the transaction has nothing else to do: COMMIT goes out with the statement
 */
export async function recordChange(
  tx: Tx,
  context: Author,
  audit: AuditRecord,
  events: readonly NewEvent[],
  isLast = false,
): Promise<void> {
  if (events.length === 0) return recordAudit(tx, context, audit);
  if (context.actor.kind === 'operator') await recordOperation(tx, context, audit);
  const { id, actor_kind, actor_id, action, target_type, target_id, details } = auditEntry(context, audit);
  const entry = [id, actor_kind, actor_id, action, target_type, target_id, details];
  const store = isLast ? storeAndCommit : storeChange;
  notifyAfterCommit(tx, await store(tx, ...parametersOf(context, events), ...entry));
}

const parametersOf = ({ actor, requestId }: Origin, events: readonly NewEvent[]): unknown[] => [
  actor.workspaceId,
  requestId,
  events.map((event) => event.type),
  events.map(({ data }) => ('articleId' in data ? data.articleId : null)),
  events.map((event) => Buffer.from(JSON.stringify({ event: event.type, data: event.data }))),
  currentTraceparent(),
];

function notifyAfterCommit(tx: Tx, [stored]: readonly Stored[]): void {
  afterCommit(tx, ((stored?.deliveries ?? 0) > 0 ? deliveriesStored : eventsStored).notify);
}
