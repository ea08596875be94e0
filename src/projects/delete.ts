import { sql } from 'kysely';
import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { releaseBytes } from '../credits/storage-quota.ts';
import { removeInBatches } from '../db/batches.ts';
import { countRows } from '../db/count-rows.ts';
import type { Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict, notFound } from '../errors.ts';
import type { ProjectId, WorkspaceId } from '../ids.ts';

/** Articles that one statement removes, with all their data. */
const ARTICLES_AT_ONCE = 500;

/**
 * Deletes a project with its articles, without events (projects.delete; contract.md E9), and returns the bytes of their
 * images to the quota. Locks the project's row before it looks for open jobs; queueing a job locks it in share mode.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`
 */
export async function deleteProject(context: VerbContext, projectId: ProjectId): Promise<void> {
  const { db, actor } = context;
  requirePermissions(actor, 'projects.delete');
  await inTransaction(db, async (tx) => {
    // Lock order: articles before their project, as for a translation.
    await lockArticles(tx, actor.workspaceId, projectId);
    const project = await tx
      .selectFrom('projects')
      .select('name')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', projectId)
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound('project'));
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
    // Again, for articles created meanwhile. Uploads lock their article, so the following count is exact.
    const articles = await lockArticles(tx, actor.workspaceId, projectId);
    const { bytes } = await tx
      .selectFrom('assets')
      .innerJoin('articles', 'articles.id', 'assets.article_id')
      .select((eb) => eb.fn.sum<number | string | null>('assets.byte_size').as('bytes'))
      .where('articles.project_id', '=', projectId)
      .executeTakeFirstOrThrow();
    await removeArticles(tx, projectId);
    await tx.deleteFrom('projects').where('id', '=', projectId).execute();
    await recordAudit(tx, context, {
      action: 'projects.deleted',
      targetType: 'project',
      targetId: projectId,
      details: { name: project.name, articles },
    });
    await releaseBytes(tx, actor.workspaceId, Number(bytes ?? 0));
  });
}

/** @returns number of articles */
async function lockArticles(tx: Tx, workspaceId: WorkspaceId, projectId: ProjectId): Promise<number> {
  const locked = tx
    .selectFrom('articles')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('project_id', '=', projectId)
    .orderBy('id')
    .forUpdate();
  return countRows(tx, tx.selectFrom(locked.as('locked')));
}

/** Deletes in batches, so that each statement stays within its time limit. */
async function removeArticles(tx: Tx, projectId: ProjectId): Promise<void> {
  await removeInBatches(ARTICLES_AT_ONCE, () =>
    sql`
      DELETE FROM articles WHERE id = ANY (ARRAY(
        SELECT id FROM articles WHERE project_id = ${projectId} LIMIT ${ARTICLES_AT_ONCE}))`.execute(tx),
  );
}
