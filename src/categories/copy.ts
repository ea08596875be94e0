import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';

/** Replaces an article's categories by those of another, in order. */
export async function copyCategories(
  tx: Tx,
  workspaceId: WorkspaceId,
  sourceId: ArticleId,
  targetId: ArticleId,
): Promise<void> {
  await tx.deleteFrom('article_categories').where('article_id', '=', targetId).execute();
  // A concurrently deleted category is waited for and left out, so that it does not fail the copy.
  await sql`
    WITH kept AS MATERIALIZED (
      SELECT id FROM categories
      WHERE workspace_id = ${workspaceId}
        AND id IN (SELECT category_id FROM article_categories WHERE article_id = ${sourceId})
      ORDER BY id
      FOR KEY SHARE
    )
    INSERT INTO article_categories (workspace_id, article_id, category_id, position)
    SELECT workspace_id, ${targetId}, category_id, position
    FROM article_categories JOIN kept ON kept.id = category_id
    WHERE article_id = ${sourceId}
    ON CONFLICT DO NOTHING
  `.execute(tx);
}
