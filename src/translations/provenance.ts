import type { Tx } from '../db/database.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';

/**
 * Stores a version's provenance, in place of an earlier one.
 * @param sourceId its source; null when that was deleted
 * @param units a `Provenance` as JSON text
 */
export async function keepProvenance(
  tx: Tx,
  version: { readonly id: ArticleId; readonly workspace_id: WorkspaceId },
  sourceId: ArticleId | null,
  units: string,
): Promise<void> {
  await tx
    .insertInto('article_provenance')
    .values({
      article_id: version.id,
      workspace_id: version.workspace_id,
      source_article_id: sourceId,
      units,
    })
    .onConflict((conflict) =>
      conflict.column('article_id').doUpdateSet((eb) => ({
        source_article_id: eb.ref('excluded.source_article_id'),
        units: eb.ref('excluded.units'),
      })),
    )
    .execute();
}
