import { sql } from 'kysely';
import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { releaseBytes, storedBytes } from '../credits/storage-quota.ts';
import { clockTimestamp } from '../db/clock.ts';
import type { Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict, notFound } from '../errors.ts';
import type { ProjectId } from '../ids.ts';
import { uncountArticles } from './usage.ts';

/**
 * Deletes a project with its articles, without events (projects.delete; contract.md E9 and L11), and returns the bytes of
 * their texts and images to the quota. It only says so: from the commit on nothing of it is shown or counted; `reconcile` removes
 * the rows. Queueing a job locks the project's row in share mode, so none slips in.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`
 */
export async function deleteProject(context: VerbContext, projectId: ProjectId): Promise<void> {
  const { db, actor } = context;
  requirePermissions(actor, 'projects.delete');
  await inTransaction(db, async (tx) => {
    const project = await tx
      .updateTable('projects')
      .set({ deleted_at: clockTimestamp })
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', projectId)
      .where('deleted_at', 'is', null)
      .returning('name')
      .executeTakeFirstOrThrow(() => notFound('project'));
    // Separate statements: they see what committed before the row was locked.
    const job = await tx
      .selectFrom('jobs')
      .select('id')
      .where('project_id', '=', projectId)
      .where('ended_at', 'is', null)
      .limit(1)
      .executeTakeFirst();
    if (job !== undefined) {
      throw conflict(
        'A job is working on an article of this project. Wait for it to end, or cancel it.',
        'job_running',
      );
    }
    const articles = await uncountArticles(tx, actor.workspaceId, projectId);
    const bytes = await imageBytesOf(tx, projectId);
    // An upload under way is not in these bytes: the difference is settled with the last row.
    await tx.updateTable('projects').set({ returned_bytes: bytes }).where('id', '=', projectId).execute();
    await recordAudit(tx, context, {
      action: 'projects.deleted',
      targetType: 'project',
      targetId: projectId,
      details: { name: project.name, articles },
    });
    await releaseBytes(tx, actor.workspaceId, bytes);
  });
}

async function imageBytesOf(tx: Tx, projectId: ProjectId): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce(sum(${storedBytes}), 0)::float8 AS bytes FROM assets AS asset
    JOIN articles AS article ON article.id = asset.article_id
    WHERE article.project_id = ${projectId}`.execute(tx);
  return rows[0]?.bytes ?? 0;
}
