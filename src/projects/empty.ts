import { sql } from 'kysely';
import { releaseBytes, storedBytes } from '../credits/storage-quota.ts';
import type { Watcher } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import type { ArticleId, ProjectId } from '../ids.ts';
import { recountArticles } from './usage.ts';

/** Articles that one statement removes, with all their data. */
const BATCH = 100;
/** Projects of one round of `reconcile`, and its time. */
const MAX_PROJECTS = 1_000;
const ROUND_MS = 30_000;

/**
 * Removes a batch of a deleted project's articles, and after the last one its own row. Images that came or went while the
 * project was being deleted are settled with that row: the quota counts each once.
 * @returns whether there may be more
 */
export const emptyProject = (db: Database, id: ProjectId): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const { rows } = await sql<{ id: ArticleId }>`
      SELECT article.id FROM articles AS article JOIN projects AS project ON project.id = article.project_id
      WHERE article.project_id = ${id} AND project.deleted_at IS NOT NULL
      ORDER BY article.id LIMIT ${BATCH} FOR UPDATE OF article`.execute(tx);
    if (rows.length === 0) {
      const project = await tx
        .deleteFrom('projects')
        .where('id', '=', id)
        .where('deleted_at', 'is not', null)
        .returning(['workspace_id', 'returned_bytes'])
        .executeTakeFirst();
      if (project !== undefined)
        await releaseBytes(tx, project.workspace_id, -Number(project.returned_bytes));
      return false;
    }
    const ids = rows.map((row) => row.id);
    await sql`
      UPDATE projects SET returned_bytes = returned_bytes - (
        SELECT coalesce(sum(${storedBytes}), 0) FROM assets WHERE article_id = ANY (${ids}::uuid[]))
      WHERE id = ${id}`.execute(tx);
    await recountArticles(tx, id, ids);
    await sql`DELETE FROM articles WHERE id = ANY (${ids}::uuid[])`.execute(tx);
    return true;
  });

/**
 * Empties deleted projects for half a minute: a batch of each in turn (contract.md R13).
 * @param onProgress called before each batch
 */
export async function emptyDeletedProjects({
  db,
  onProgress,
  onError,
}: Watcher & { readonly db: Database }): Promise<void> {
  const end = performance.now() + ROUND_MS;
  const waiting = await db
    .selectFrom('projects')
    .select('id')
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at')
    .limit(MAX_PROJECTS)
    .execute();
  // A project with more goes to the end of the list, which grows as it is walked.
  for (const [batches, { id }] of waiting.entries()) {
    onProgress(batches);
    if (performance.now() >= end) return;
    try {
      if (await emptyProject(db, id)) waiting.push({ id });
    } catch (error) {
      onError(id, error);
    }
  }
}
