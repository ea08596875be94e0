import type { Tx } from '../db/database.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';
import { writtenNow } from './content.ts';
import { holdCategories, lockArticle, mayBe, ownedByJob } from './lock.ts';
import { type ArticleRow, articleColumns } from './queries.ts';
import { renderArticle } from './render.ts';
import { type ArticleAction, TRANSITIONS } from './states.ts';

/** Actions that end in another status. */
export type Move = Exclude<ArticleAction, 'edit' | 'delete'>;

/**
 * Moves an article along one row of the state machine, in the caller's transaction. Publishing renders it
 * once more and sets publishedAt, which unpublishing keeps; it waits for changes of the article's categories.
 * @returns the article before and after
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running` or `status`
 */
export async function moveArticle(
  tx: Tx,
  workspaceId: WorkspaceId,
  articleId: ArticleId,
  move: Move,
): Promise<{ before: ArticleRow; after: ArticleRow }> {
  const before = await lockArticle(tx, workspaceId, articleId, move);
  // A rename that is under way has asked already who is published, and one that comes later sees this article.
  if (move === 'publish') await holdCategories(tx, articleId);
  const rendering = move === 'publish' ? await renderArticle(tx, before) : {};
  const after = await tx
    .updateTable('articles')
    .set({
      status: TRANSITIONS[move].to,
      ...rendering,
      ...(move === 'publish' ? { published_at: writtenNow } : {}),
      updated_at: writtenNow,
    })
    .where('id', '=', articleId)
    .where(mayBe(move))
    .returning(articleColumns)
    .executeTakeFirst();
  if (after === undefined) throw ownedByJob();
  return { before, after };
}
