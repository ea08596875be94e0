import { recordOperation } from '../audit/operator-log.ts';
import { type AuditRecord, recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { clockTimestamp } from '../db/clock.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict, notFound } from '../errors.ts';
import { holdKey, holdRoles } from '../roles/authority.ts';
import { updateSilence } from '../webhooks/endpoints/silence.ts';

/**
 * Deletes the actor's workspace (workspaces.delete), without events (contract.md E9, L1 to L3). It only says so: from the
 * commit on no key is valid, nothing of it is shown and nothing is sent. An operator can restore it until `reconcile`
 * empties it. Waits for no job: one that is being queued meanwhile is ended by `reconcile`.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`; UNAUTHENTICATED and FORBIDDEN when the caller's
 *   key or role has changed meanwhile
 */
export async function deleteWorkspace(context: VerbContext): Promise<void> {
  const { db, actor } = context;
  requirePermissions(actor, 'workspaces.delete');
  const { workspaceId } = actor;
  await inTransaction(db, async (tx) => {
    await holdKey(tx, actor);
    await holdRoles(tx, actor, ['workspaces.delete']);
    const workspace = await tx
      .updateTable('workspaces')
      .set((eb) => ({
        // Null keeps it: a job is open.
        deleted_at: eb
          .case()
          .when(
            eb.exists(
              eb
                .selectFrom('jobs')
                .select('jobs.id')
                .where('jobs.workspace_id', '=', workspaceId)
                .where('jobs.ended_at', 'is', null),
            ),
          )
          .then(null)
          .else(clockTimestamp)
          .end(),
      }))
      .where('id', '=', workspaceId)
      .where('deleted_at', 'is', null)
      .returning('deleted_at')
      .executeTakeFirstOrThrow(() => notFound(`workspace ${workspaceId}`));
    if (workspace.deleted_at === null) {
      throw conflict(
        'A job of this workspace is still running. Wait for it to end, or cancel it.',
        'job_running',
      );
    }
    await updateSilence(tx, workspaceId);
    const record: AuditRecord = {
      action: 'workspaces.deleted',
      targetType: 'workspace',
      targetId: workspaceId,
    };
    await recordAudit(tx, context, record);
    // Its own log goes with it.
    if (actor.kind === 'api_key') await recordOperation(tx, context, record);
  });
}
