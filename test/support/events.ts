import { inTransaction } from '../../src/db/transaction.ts';
import type { NewEvent } from '../../src/events/catalog.ts';
import { recordEvents } from '../../src/events/record.ts';
import { type ArticleId, type DeliveryId, type EndpointId, newId, type ProjectId } from '../../src/ids.ts';
import type { TestService, TestWorkspace } from './service.ts';
import { eventually } from './wait.ts';

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
  const rows = await service.db
    .selectFrom('webhook_open')
    .innerJoin('events', 'events.id', 'webhook_open.event_id')
    .select('webhook_open.id')
    .where('events.article_id', '=', articleId)
    .execute();
  return rows.map((row) => row.id);
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

export const readDeliveryRow = (service: TestService, id: DeliveryId) =>
  service.db.selectFrom('webhook_deliveries').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

/** The delivery's row once it satisfies the condition. */
export const untilDelivery = (
  service: TestService,
  id: DeliveryId,
  condition: (row: Awaited<ReturnType<typeof readDeliveryRow>>) => boolean,
  timeoutMs?: number,
) => eventually(() => readDeliveryRow(service, id), condition, timeoutMs);
