/** What a deleted project's articles count for until they are removed (contract.md L11). */
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { ArticleId, ProjectId, WorkspaceId } from '../ids.ts';

const bytesIn = (table: string): RawBuilder<number> => sql`
  (SELECT coalesce(sum(bytes), 0) FROM ${sql.table(table)} AS part
   WHERE part.workspace_id = article.workspace_id AND part.article_id = article.id)`;

/** As the triggers of these tables count them. */
const usageOf = (articles: RawBuilder<boolean>): RawBuilder<unknown> => sql`
  SELECT count(*) AS articles, coalesce(sum(bytes + ${bytesIn('article_revisions')} + ${bytesIn('article_provenance')}
    + ${bytesIn('article_sources')} + ${bytesIn('translation_memory')}), 0) AS bytes
  FROM articles AS article WHERE ${articles}`;

/**
 * Takes a project's articles and texts out of its workspace's usage, in the transaction that deletes it.
 * @returns how many articles
 */
export async function uncountArticles(
  tx: Tx,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
): Promise<number> {
  const { rows } = await sql<{ articles: number }>`
    INSERT INTO workspace_usage (workspace_id, project_id, articles, text_bytes)
    SELECT ${workspaceId}::uuid, ${projectId}::uuid, -articles, -bytes
    FROM (${usageOf(sql`article.project_id = ${projectId}`)}) AS usage
    RETURNING -articles AS articles`.execute(tx);
  return rows[0]?.articles ?? 0;
}

/** Adds back what the removal of these articles will subtract again. */
export async function recountArticles(
  tx: Tx,
  projectId: ProjectId,
  articleIds: readonly ArticleId[],
): Promise<void> {
  await sql`UPDATE workspace_usage AS of_project
    SET articles = of_project.articles + usage.articles, text_bytes = text_bytes + bytes
    FROM (${usageOf(sql`article.id = ANY (${articleIds}::uuid[])`)}) AS usage
    WHERE of_project.project_id = ${projectId}`.execute(tx);
}
