import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import type { DeliveryStatus, LoggedAttempt } from '../../src/db/tables.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { EVENT_TYPES, type NewEvent } from '../../src/events/catalog.ts';
import { recordEvents } from '../../src/events/record.ts';
import {
  type ArticleId,
  type BurstId,
  type DeliveryId,
  type EndpointId,
  type EventId,
  newId,
  type ProjectId,
  type WorkspaceId,
} from '../../src/ids.ts';
import { generateSecret } from '../../src/webhooks/secrets/generate.ts';
import type { TestService, TestWorkspace } from './service.ts';
import { eventually } from './wait.ts';

/** Stores an endpoint that subscribes to every event, so that each is stored; nothing answers where it is. */
export async function listenToAll(db: Database, workspaceId: WorkspaceId): Promise<EndpointId> {
  return insertEndpoint(db, workspaceId, { events: [...EVENT_TYPES] });
}

/** An endpoint as its row alone: nothing answers where it is. */
export async function insertEndpoint(
  db: Database,
  workspaceId: WorkspaceId,
  fields: { events: string[]; url?: string; secret?: string; active?: boolean; deleted_at?: Date },
): Promise<EndpointId> {
  const id = newId<EndpointId>();
  await db
    .insertInto('webhook_endpoints')
    .values({
      id,
      workspace_id: workspaceId,
      url: 'http://127.0.0.1:9/',
      secret: generateSecret(),
      ...fields,
    })
    .execute();
  return id;
}

/** Registers a receiver for article.created and returns the endpoint's id and secret. */
export async function register(
  service: TestService,
  workspace: TestWorkspace,
  url: string,
): Promise<{ id: EndpointId; secret: string }> {
  const { status, body } = await service.call(
    workspace.key,
    'POST',
    `/api/workspaces/${workspace.id}/webhooks`,
    { url, events: ['article.created'] },
  );
  if (status !== 201) throw new Error(JSON.stringify(body));
  return { id: body.endpoint.id, secret: body.secret };
}

/** Stores one article.created event, as a change would, and returns the ids of its deliveries. */
export async function emit(
  service: TestService,
  workspace: TestWorkspace,
  title = 'A garden in spring',
): Promise<DeliveryId[]> {
  const articleId = newId();
  await inTransaction(service.db, (tx) =>
    recordEvents(tx, workspace.context, [
      { type: 'article.created', data: { articleId, projectId: newId(), title } },
    ]),
  );
  // A worker may have ended some of them already.
  const { rows } = await sql<{ id: DeliveryId }>`
    WITH event AS (SELECT id FROM events WHERE article_id = ${articleId})
    SELECT id FROM webhook_open WHERE event_id IN (SELECT id FROM event)
    UNION ALL SELECT id FROM webhook_log WHERE event_id IN (SELECT id FROM event)
    ORDER BY id`.execute(service.db);
  return rows.map((row) => row.id);
}

/** The same for a workspace with one endpoint: the id of the only delivery. */
export async function emitSingle(service: TestService, workspace: TestWorkspace): Promise<DeliveryId> {
  const [id] = await emit(service, workspace);
  if (id === undefined) throw new Error('no delivery was queued');
  return id;
}

/** Events as a change would store them; `articleId` tells them apart. */
export const articleEvents = (count: number): Extract<NewEvent, { type: 'article.created' }>[] =>
  Array.from({ length: count }, (_, index) => ({
    type: 'article.created',
    data: { articleId: newId<ArticleId>(), projectId: newId<ProjectId>(), title: `Article ${index + 1}` },
  }));

/** Stores many article.created events in one transaction, as the rename of a category with many articles does. */
export const emitTogether = ({ db }: TestService, { context }: TestWorkspace, count: number): Promise<void> =>
  inTransaction(db, (tx) => recordEvents(tx, context, articleEvents(count)));

/** A delivery wherever its row is: open, or in the log. */
export interface DeliveryRow {
  readonly id: DeliveryId;
  readonly event_id: EventId;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly response_status: number | null;
  readonly error_message: string | null;
  readonly delivered_at: Date | null;
  /** When the next attempt is due; null once it has ended. */
  readonly due_at: Date | null;
  readonly ended_at: Date | null;
  readonly in_run: boolean;
  readonly burst_id: BurstId | null;
  readonly attempt_log: readonly LoggedAttempt[];
}

const shared = sql`id, event_id, status, attempts, response_status, error_message, in_run, burst_id, attempt_log`;
const openRows = (column: 'id' | 'workspace_id', value: string) => sql<DeliveryRow>`
  SELECT ${shared}, NULL::timestamptz AS delivered_at, due_at, NULL::timestamptz AS ended_at
  FROM webhook_open WHERE ${sql.ref(column)} = ${value}`;
const loggedRows = (column: 'id' | 'workspace_id', value: string) => sql<DeliveryRow>`
  SELECT ${shared}, delivered_at, NULL::timestamptz AS due_at, ended_at
  FROM webhook_log WHERE ${sql.ref(column)} = ${value}`;

export async function readDeliveryRow(
  { db }: { readonly db: Database },
  id: DeliveryId,
): Promise<DeliveryRow> {
  // The log has many partitions to plan for, and an open delivery is looked at again and again.
  for (const rowsIn of [openRows, loggedRows]) {
    const { rows } = await rowsIn('id', id).execute(db);
    if (rows[0] !== undefined) return rows[0];
  }
  throw new Error(`no delivery ${id}`);
}

/** Those of the workspace that are open. */
export const openRowsOf = async (
  { db }: { readonly db: Database },
  { id }: { readonly id: WorkspaceId },
): Promise<DeliveryRow[]> => (await openRows('workspace_id', id).execute(db)).rows;

/** The workspace's deliveries, the oldest first. */
export async function rowsOf(
  { db }: { readonly db: Database },
  { id }: { readonly id: WorkspaceId },
): Promise<DeliveryRow[]> {
  const { rows } = await sql<DeliveryRow>`
    ${openRows('workspace_id', id)} UNION ALL ${loggedRows('workspace_id', id)} ORDER BY id`.execute(db);
  return rows;
}

/** The delivery's row once it satisfies the condition. */
export const untilDelivery = (
  service: TestService,
  id: DeliveryId,
  condition: (row: DeliveryRow) => boolean,
  timeoutMs?: number,
) => eventually(() => readDeliveryRow(service, id), condition, timeoutMs);

/** Makes an open delivery due at once. */
export const makeDue = ({ db }: { readonly db: Database }, id: DeliveryId) =>
  db
    .updateTable('webhook_open')
    .set({ due_at: new Date(0) })
    .where('id', '=', id)
    .execute();
