import { z } from 'zod';
import { recordAudit } from '../audit/record.ts';
import { requireOperator, type VerbContext } from '../context.ts';
import { inTransaction } from '../db/transaction.ts';
import { MAX_KEYWORD } from '../document/format/limits.ts';
import { trimmedText } from '../fields.ts';
import { type IdeaClusterId, newId, type ProjectId } from '../ids.ts';

export const MAX_KEYWORDS = 25;

export const newIdeaCluster = z.object({
  title: trimmedText(1, 200),
  keywords: z
    .array(trimmedText(1, MAX_KEYWORD))
    .max(MAX_KEYWORDS, `Expected at most ${MAX_KEYWORDS} keywords.`),
});

/**
 * Adds an idea for the project's category suggestions, or replaces the keywords of the one with the same title.
 * @returns its id
 */
export async function addIdeaCluster(
  context: VerbContext,
  { projectId, title, keywords }: z.output<typeof newIdeaCluster> & { readonly projectId: ProjectId },
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
