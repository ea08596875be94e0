import type { Selectable } from 'kysely';
import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { Tables } from '../db/tables.ts';
import { inTransaction } from '../db/transaction.ts';
import { notFound } from '../errors.ts';
import { iso } from '../fields.ts';
import type { WorkspaceChanges, WorkspaceResponse } from './schemas.ts';

const columns = ['id', 'name', 'shared_memory', 'created_at'] as const;

const toWorkspace = (
  row: Pick<Selectable<Tables['workspaces']>, (typeof columns)[number]>,
): WorkspaceResponse => ({
  id: row.id,
  name: row.name,
  sharedMemory: row.shared_memory,
  createdAt: iso(row.created_at),
});

/**
 * The workspace with its settings (articles.read).
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function readWorkspace({ db, actor }: VerbContext): Promise<WorkspaceResponse> {
  requirePermissions(actor, 'articles.read');
  const row = await db
    .selectFrom('workspaces')
    .select(columns)
    .where('id', '=', actor.workspaceId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow(() => notFound('workspace'));
  return toWorkspace(row);
}

/**
 * Sets whether projects share what people approved (translations.configure; contract.md V52). The next translation
 * goes by it.
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function updateWorkspace(
  context: VerbContext,
  { sharedMemory }: WorkspaceChanges,
): Promise<WorkspaceResponse> {
  const { db, actor } = context;
  requirePermissions(actor, 'translations.configure');
  return inTransaction(db, async (tx) => {
    const row = await tx
      .updateTable('workspaces')
      .set({ shared_memory: sharedMemory })
      .where('id', '=', actor.workspaceId)
      .where('deleted_at', 'is', null)
      .returning(columns)
      .executeTakeFirstOrThrow(() => notFound('workspace'));
    await recordAudit(tx, context, {
      action: 'workspaces.updated',
      targetType: 'workspace',
      targetId: actor.workspaceId,
      details: { sharedMemory },
    });
    return toWorkspace(row);
  });
}
