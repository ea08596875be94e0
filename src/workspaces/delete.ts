import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict, notFound } from '../errors.ts';
import { holdKey, holdRoles } from '../roles/authority.ts';
import { emptyWorkspace } from './empty.ts';

/**
 * Deletes the actor's workspace (workspaces.delete) with all it has: keys, roles, articles, endpoints, credits and
 * audit log, without events (contract.md E9). One short transaction decides: from its commit on no key is known and
 * nothing is sent. The rows then go in batches, and those that are left after `patienceMs` are removed by `reconcile`, as
 * is the row of one with endpoints, two minutes later.
 * The row is locked before open jobs are looked for, and every job that is made refers to it, so none slips in between.
 * @param patienceMs milliseconds that the rows may take here; an operator, who can call again, waits for all of them
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`; UNAUTHENTICATED and FORBIDDEN when the caller's
 *   key or role has changed in the meantime
 */
export async function deleteWorkspace(
  { db, actor }: VerbContext,
  patienceMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  requirePermissions(actor, 'workspaces.delete');
  const { workspaceId } = actor;
  await inTransaction(db, async (tx) => {
    await tx
      .selectFrom('workspaces')
      .select('id')
      .where('id', '=', workspaceId)
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound(`workspace ${workspaceId}`));
    await holdKey(tx, actor);
    await holdRoles(tx, actor, ['workspaces.delete']);
    const job = await tx
      .selectFrom('jobs')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('ended_at', 'is', null)
      .limit(1)
      .executeTakeFirst();
    if (job !== undefined) {
      throw conflict(
        'A job of this workspace is still running. Wait for it to end, or cancel it.',
        'job_running',
      );
    }
    await tx
      .updateTable('workspaces')
      .set((eb) => ({ deleted_at: eb.fn.coalesce('deleted_at', eb.fn<Date>('now')) }))
      .where('id', '=', workspaceId)
      .execute();
    await tx
      .updateTable('api_keys')
      .set((eb) => ({ revoked_at: eb.fn<Date>('now') }))
      .where('workspace_id', '=', workspaceId)
      .where('revoked_at', 'is', null)
      .execute();
    await tx
      .updateTable('webhook_endpoints')
      .set((eb) => ({ deleted_at: eb.fn<Date>('now'), secret: '' }))
      .where('workspace_id', '=', workspaceId)
      .where('deleted_at', 'is', null)
      .execute();
  });
  const end = performance.now() + patienceMs;
  const emptied = emptyWorkspace(db, workspaceId, () => performance.now() < end);
  if (patienceMs === Number.POSITIVE_INFINITY) await emptied;
  // It is deleted; `reconcile` will meet a failure here again and report it.
  else await emptied.catch(() => false);
}
