import { requirePermissions, type VerbContext } from '../context.ts';
import { allowLongStatements, inTransaction } from '../db/transaction.ts';
import { conflict, notFound } from '../errors.ts';
import { holdKey, holdRoles } from '../roles/authority.ts';

/** Longer than a request may take otherwise: a large workspace is many rows. Milliseconds. */
const STATEMENT_TIMEOUT_MS = 600_000;

/**
 * Deletes the actor's workspace (workspaces.delete) with all it has: keys, roles, articles, endpoints, credits and
 * audit log, without events (contract.md E9). The row is locked before open jobs are looked
 * for, and every job that is made refers to it, so none slips in between.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`; UNAUTHENTICATED and FORBIDDEN when the caller's
 *   key or role has changed meanwhile
 */
export async function deleteWorkspace({ db, actor }: VerbContext): Promise<void> {
  requirePermissions(actor, 'workspaces.delete');
  await inTransaction(db, async (tx) => {
    const workspace = await tx
      .selectFrom('workspaces')
      .select('id')
      .where('id', '=', actor.workspaceId)
      .forUpdate()
      .executeTakeFirst();
    if (workspace === undefined) throw notFound('workspace');
    await holdKey(tx, actor);
    await holdRoles(tx, actor, ['workspaces.delete']);
    const job = await tx
      .selectFrom('jobs')
      .select('id')
      .where('workspace_id', '=', actor.workspaceId)
      .where('ended_at', 'is', null)
      .limit(1)
      .executeTakeFirst();
    if (job !== undefined) {
      throw conflict(
        'A job of this workspace is still running. Wait for its end, or cancel it.',
        'job_running',
      );
    }
    await allowLongStatements(tx, STATEMENT_TIMEOUT_MS);
    await tx.deleteFrom('workspaces').where('id', '=', actor.workspaceId).execute();
  });
}
