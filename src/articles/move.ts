import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { executePrepared } from '../db/prepared.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';
import { clockTimestamp } from './content.ts';
import { holdsCategories, lockArticleToMove, whereAllowed, whyNotMoved } from './lock.ts';
import { type ArticleRow, articleColumns } from './queries.ts';
import type { Rendering } from './render.ts';
import { type ArticleAction, TRANSITIONS } from './states.ts';

/** Actions that end in another status. */
export type Move = Exclude<ArticleAction, 'edit' | 'delete'>;

/**
 * What an article without a block cannot go through: there is nothing to see, and an empty draft that a failed
 * translation left has to stay one, so that a later request can fill it.
 */
const NEEDS_CONTENT: ReadonlySet<Move> = new Set(['submit', 'publish']);
const hasContent = sql<boolean>`jsonb_array_length(document -> 'blocks') > 0`;

/**
 * Moves an article along one row of the state machine, in the caller's transaction.
 * @returns the article before and after
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`, `no_content` or `status`
 */
export async function moveArticle(
  tx: Tx,
  workspaceId: WorkspaceId,
  articleId: ArticleId,
  move: Exclude<Move, 'publish'>,
): Promise<{ before: ArticleRow; after: ArticleRow }> {
  const before = await lockArticleToMove(tx, workspaceId, articleId, move);
  return { before, after: await moveLocked(tx, articleId, move, {}) };
}

/**
 * Moves an article that `lockArticleToMove` has locked. Publishing sets publishedAt, which unpublishing keeps; it waits
 * for changes of the article's categories: a rename that is under way has asked already who is published, and one that
 * comes later sees this article.
 * @param rendering of the body, which publishing makes anew
 * @throws {ServiceError} CONFLICT `job_running` or `no_content`
 */
export async function moveLocked<Kind extends Move>(
  tx: Tx,
  articleId: ArticleId,
  move: Kind,
  rendering: Kind extends 'publish' ? Rendering : Record<never, never>,
): Promise<ArticleRow> {
  const isPublished = move === 'publish';
  const query = tx
    .updateTable('articles')
    .set({
      status: TRANSITIONS[move].to,
      ...rendering,
      ...(isPublished ? { published_at: clockTimestamp } : {}),
      updated_at: clockTimestamp,
    })
    .where('id', '=', articleId)
    .where(whereAllowed(move))
    .$if(NEEDS_CONTENT.has(move), (update) => update.where(hasContent))
    .$if(isPublished, (update) => update.where(holdsCategories(articleId)))
    .returning(articleColumns);
  const { rows } = await executePrepared(tx, `move_article_${move}`, query);
  const [after] = rows;
  if (after === undefined) throw await whyNotMoved(tx, articleId);
  return after;
}
