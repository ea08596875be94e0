import { requireOperator, type VerbContext } from '../context.ts';
import { allowLongStatements, inTransaction } from '../db/transaction.ts';
import { conflict, notFound } from '../errors.ts';

/**
 * Deletes the actor's workspace with all it has: keys, roles, articles, endpoints, credits and audit log,
 * without events (interface.md, Event payloads, rule 6). The row is locked before open jobs are looked for,
 * and every job that is made refers to it, so none slips in between.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`
 */
export async function deleteWorkspace({ db, actor }: VerbContext): Promise<void> {
  requireOperator(actor);
  await inTransaction(db, async (tx) => {
    const workspace = await tx
      .selectFrom('workspaces')
      .select('id')
      .where('id', '=', actor.workspaceId)
      .forUpdate()
      .executeTakeFirst();
    if (workspace === undefined) throw notFound('workspace');
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
    // A large workspace takes longer than a request may.
    await allowLongStatements(tx, 0);
    await tx.deleteFrom('workspaces').where('id', '=', actor.workspaceId).execute();
  });
}
