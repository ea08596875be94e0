import { recordAudit } from '../audit/record.ts';
import { requireOperator, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { notFound } from '../errors.ts';

export interface Quota {
  /** AI operations per calendar month. */
  readonly aiOperations: number;
  /** Bytes of images, articles and their revisions. */
  readonly storageBytes: number;
}

/**
 * Sets one or both of the workspace's quotas. One below the present use refuses new use and removes nothing.
 * @returns both quotas as they are now
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function setQuota(
  context: VerbContext,
  { aiOperations, storageBytes }: { [Name in keyof Quota]?: Quota[Name] | undefined },
): Promise<Quota> {
  const { db, actor } = context;
  requireOperator(actor);
  return inTransaction(db, async (tx) => {
    const row = await tx
      .updateTable('workspaces')
      .set((eb) => ({
        ai_operations_limit: aiOperations ?? eb.ref('ai_operations_limit'),
        storage_bytes_limit: storageBytes ?? eb.ref('storage_bytes_limit'),
      }))
      .where('id', '=', actor.workspaceId)
      .returning(['ai_operations_limit', 'storage_bytes_limit'])
      .executeTakeFirstOrThrow(() => notFound('workspace'));
    const quota: Quota = { aiOperations: row.ai_operations_limit, storageBytes: row.storage_bytes_limit };
    await recordAudit(tx, context, {
      action: 'quotas.updated',
      targetType: 'workspace',
      targetId: actor.workspaceId,
      details: { ...quota },
    });
    return quota;
  });
}
