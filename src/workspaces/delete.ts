import { requirePermissions, type VerbContext } from '../context.ts';
import { asService } from '../db/guard.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict, notFound } from '../errors.ts';
import { holdKey, holdRoles } from '../roles/authority.ts';
import { emptyWorkspace } from './empty.ts';

/**
 * Deletes the actor's workspace (workspaces.delete) with all it has: keys, roles, articles, endpoints, credits and
 * audit log, without events (contract.md E9). One short transaction decides: from its commit on no key is valid and
 * nothing is sent. Then the rows are removed in batches; `reconcile` removes those left after `removalMs`, and two
 * minutes later the row of a workspace with endpoints. The row is locked before open jobs are looked for, and every new
 * job references it, so none slips in between.
 * @param removalMs milliseconds to remove rows here; an operator, who can repeat the command, waits for all of them
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`; UNAUTHENTICATED and FORBIDDEN when the caller's
 *   key or role has changed meanwhile
 */
export async function deleteWorkspace(
  { db: requested, actor }: VerbContext,
  removalMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  requirePermissions(actor, 'workspaces.delete');
  const { workspaceId } = actor;
  const service = asService(requested);
  // The operator repeats the command for a workspace that is deleted already.
  const db = actor.kind === 'operator' ? service : requested;
  await inTransaction(db, async (tx) => {
    await tx
      .selectFrom('workspaces')
      .select('id')
      .where('id', '=', workspaceId)
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound(`workspace ${workspaceId}`));
    if (actor.kind === 'api_key') {
      await holdKey(tx, actor);
      await holdRoles(tx, actor, ['workspaces.delete']);
    }
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
  const end = performance.now() + removalMs;
  const emptied = emptyWorkspace(service, workspaceId, () => performance.now() < end);
  if (removalMs === Number.POSITIVE_INFINITY) await emptied;
  // It is deleted; `reconcile` meets a failure here again and reports it.
  else await emptied.catch(() => false);
}
