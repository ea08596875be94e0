import { keyRefused, notFound } from '../errors.ts';
import type { WorkspaceId } from '../ids.ts';
import type { Tx } from './database.ts';

/**
 * Locks the workspace's row, so that additions to a limited list are counted one after the other, and none is made in a
 * deleted workspace (contract.md A42). References to the workspace do not wait for it.
 * @throws {ServiceError} when it was deleted: UNAUTHENTICATED for a key, RESOURCE_NOT_FOUND for the operator
 */
export async function lockWorkspace(
  tx: Tx,
  actor: { readonly kind: 'api_key' | 'operator'; readonly workspaceId: WorkspaceId },
): Promise<void> {
  await tx
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', actor.workspaceId)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow(() => (actor.kind === 'api_key' ? keyRefused() : notFound('workspace')));
}
