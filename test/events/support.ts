import { inTransaction } from '../../src/db/transaction.ts';
import type { NewEvent } from '../../src/events/catalog.ts';
import { recordEvents } from '../../src/events/record.ts';
import { type EndpointId, newId, type WorkspaceId } from '../../src/ids.ts';
import { generateSecret } from '../../src/webhooks/endpoints/secret.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import type { TestDatabase } from '../support/database.ts';

/** A workspace in a database without any process, and what stores events there. */
export async function listeningWorkspace({ db }: TestDatabase) {
  const { workspaceId } = await createWorkspace(db, { name: 'Acme', credits: 0 });
  const context = { db, actor: { kind: 'operator', workspaceId }, requestId: 'test' } as const;
  return {
    id: workspaceId,
    context,
    record: (...events: NewEvent[]) => inTransaction(db, (tx) => recordEvents(tx, context, events)),
    endpoint: (events: string[], state?: { active?: boolean; deleted_at?: Date }) =>
      insertEndpoint(db, workspaceId, events, state),
  };
}

async function insertEndpoint(
  db: TestDatabase['db'],
  workspaceId: WorkspaceId,
  events: string[],
  state: { active?: boolean; deleted_at?: Date } = {},
): Promise<EndpointId> {
  const id = newId<EndpointId>();
  await db
    .insertInto('webhook_endpoints')
    .values({
      id,
      workspace_id: workspaceId,
      url: 'http://127.0.0.1:9/hooks',
      secret: generateSecret(),
      events,
      ...state,
    })
    .execute();
  return id;
}
