import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { Decided } from '../document/tasks/refresh.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';

/**
 * Stores a version's provenance, in place of an earlier one, and changes what is kept of its source beside it
 * (contract.md T44).
 * @param sourceId its source; null when that was deleted
 */
export async function keepProvenance(
  tx: Tx,
  version: { readonly id: ArticleId; readonly workspace_id: WorkspaceId },
  sourceId: ArticleId | null,
  { provenance, sources, withoutSource }: Decided,
): Promise<void> {
  await tx
    .insertInto('article_provenance')
    .values({
      article_id: version.id,
      workspace_id: version.workspace_id,
      source_article_id: sourceId,
      units: provenance,
      sources,
    })
    .onConflict((conflict) =>
      conflict.column('article_id').doUpdateSet((eb) => ({
        source_article_id: eb.ref('excluded.source_article_id'),
        units: eb.ref('excluded.units'),
        sources: sql<string>`(article_provenance.sources || excluded.sources) - ${withoutSource}::text[]`,
      })),
    )
    .execute();
  // What it teaches has changed, also when its content has not.
  await tx.deleteFrom('remembered_versions').where('article_id', '=', version.id).execute();
}

/** Drops a version's provenance, what is kept of its source, and its open proposals. */
export async function dropProvenance(tx: Tx, articleId: ArticleId): Promise<void> {
  for (const table of ['article_provenance', 'proposals', 'remembered_versions'] as const) {
    await tx.deleteFrom(table).where('article_id', '=', articleId).execute();
  }
}
