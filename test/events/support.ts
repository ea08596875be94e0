import { inTransaction } from '../../src/db/transaction.ts';
import type { NewEvent } from '../../src/events/catalog.ts';
import { recordEvents } from '../../src/events/record.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import type { TestDatabase } from '../support/database.ts';
import { insertEndpoint } from '../support/events.ts';

/** A workspace in a database without any process, and what stores events there. */
export async function listeningWorkspace({ db }: TestDatabase) {
  const { workspaceId } = await createWorkspace(db, { name: 'Acme', credits: 0 });
  const context = { db, actor: { kind: 'operator', workspaceId }, requestId: 'test' } as const;
  return {
    id: workspaceId,
    context,
    record: (...events: NewEvent[]) => inTransaction(db, (tx) => recordEvents(tx, context, events)),
    endpoint: (events: string[], state?: { active?: boolean; deleted_at?: Date }) =>
      insertEndpoint(db, workspaceId, { events, ...state }),
  };
}
