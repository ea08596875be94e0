import { recordAudit } from '../audit/record.ts';
import { requireOperator, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { notFound } from '../errors.ts';

export interface WorkspaceLimits {
  /** AI operations per calendar month. */
  readonly aiOperations: number;
  /** Bytes of images, articles and their revisions. */
  readonly storageBytes: number;
  /** Requests a minute of each key; 0 is no limit, null the configured one. */
  readonly requestsPerKey: number | null;
  /** Requests a minute of all keys together; 0 is no limit, null the configured one. */
  readonly requestsPerWorkspace: number | null;
}

/**
 * Sets those of the workspace's limits that are given (contract.md A31). A quota below the present use refuses new use and
 * removes nothing; requests are counted by the new limits from the next one on, in every process.
 * @returns all limits as they are now
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function setLimits(
  context: VerbContext,
  given: { [Name in keyof WorkspaceLimits]?: WorkspaceLimits[Name] | undefined },
): Promise<WorkspaceLimits> {
  const { db, actor } = context;
  requireOperator(actor);
  const columns = {
    ai_operations_limit: given.aiOperations,
    storage_bytes_limit: given.storageBytes,
    requests_per_key: given.requestsPerKey,
    requests_per_workspace: given.requestsPerWorkspace,
  };
  return inTransaction(db, async (tx) => {
    const row = await tx
      .updateTable('workspaces')
      .set(columns)
      .where('id', '=', actor.workspaceId)
      .returning(['ai_operations_limit', 'storage_bytes_limit', 'requests_per_key', 'requests_per_workspace'])
      .executeTakeFirstOrThrow(() => notFound('workspace'));
    const limits: WorkspaceLimits = {
      aiOperations: row.ai_operations_limit,
      storageBytes: row.storage_bytes_limit,
      requestsPerKey: row.requests_per_key,
      requestsPerWorkspace: row.requests_per_workspace,
    };
    await recordAudit(tx, context, {
      action: 'quotas.updated',
      targetType: 'workspace',
      targetId: actor.workspaceId,
      details: { ...limits },
    });
    return limits;
  });
}
