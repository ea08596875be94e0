import { recordAudit } from '../audit/record.ts';
import { requireOperator, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { type IdeaClusterId, newId, type ProjectId } from '../ids.ts';

export interface NewIdeaCluster {
  readonly projectId: ProjectId;
  /** 1 to 200 code points, trimmed. */
  readonly title: string;
  readonly keywords: readonly string[];
}

/**
 * Adds an idea that the project's category suggestions draw on; one under the same title gets the new
 * keywords instead.
 * @returns its id
 */
export async function addIdeaCluster(
  context: VerbContext,
  { projectId, title, keywords }: NewIdeaCluster,
): Promise<IdeaClusterId> {
  requireOperator(context.actor);
  return inTransaction(context.db, async (tx) => {
    const { id } = await tx
      .insertInto('idea_clusters')
      .values({
        id: newId<IdeaClusterId>(),
        workspace_id: context.actor.workspaceId,
        project_id: projectId,
        title,
        keywords: [...keywords],
      })
      .onConflict((on) => on.constraint('idea_clusters_title_key').doUpdateSet({ keywords: [...keywords] }))
      .returning('id')
      .executeTakeFirstOrThrow();
    await recordAudit(tx, context, {
      action: 'ideas.added',
      targetType: 'project',
      targetId: projectId,
      details: { ideaClusterId: id },
    });
    return id;
  });
}
