import { requirePermissions, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { notFound } from '../errors.ts';
import type { ProjectId } from '../ids.ts';
import { type ReservedOperation, reserveOperation } from './operations.ts';
import { SUGGESTION_CREDITS } from './price.ts';

/**
 * Reserves a suggestion of new categories for a project. The caller runs it afterwards.
 *
 * @throws {ServiceError} RESOURCE_NOT_FOUND, INSUFFICIENT_CREDITS or QUOTA_EXCEEDED; nothing is left behind then
 */
export async function suggestForProject(
  context: VerbContext,
  { projectId }: { projectId: ProjectId },
): Promise<ReservedOperation> {
  requirePermissions(context.actor, 'categories.create', 'articles.read');
  return inTransaction(context.db, async (tx) => {
    const project = await tx
      .selectFrom('projects')
      .select('id')
      .where('workspace_id', '=', context.actor.workspaceId)
      .where('id', '=', projectId)
      .executeTakeFirst();
    if (project === undefined) throw notFound('project');
    return reserveOperation(tx, context, {
      kind: 'project_categories',
      targetId: projectId,
      credits: SUGGESTION_CREDITS,
      audit: { action: 'categories.suggested', targetType: 'project' },
    });
  });
}
