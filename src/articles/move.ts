import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { conflict, type ServiceError } from '../errors.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';
import { clockTimestamp } from './content.ts';
import { holdCategories, lockArticle, ownedByJob, whereAllowed } from './lock.ts';
import { type ArticleRow, articleColumns } from './queries.ts';
import type { Rendering } from './render.ts';
import { type ArticleAction, TRANSITIONS } from './states.ts';

/** Actions that end in another status. */
export type Move = Exclude<ArticleAction, 'edit' | 'delete'>;

/**
 * Moves that an article without blocks cannot make: there is nothing to see, and an empty draft that a failed
 * translation left has to stay one, so that a later request can fill it.
 */
const NEEDS_CONTENT: ReadonlySet<Move> = new Set(['submit', 'publish']);
const hasContent = sql<boolean>`jsonb_array_length(document -> 'blocks') > 0`;

/**
 * Moves an article along one row of the state machine, in the caller's transaction. Publishing sets
 * publishedAt, which unpublishing keeps; it waits for changes of the article's categories.
 * @param rendering of the body, when it was made again
 * @returns the article before and after
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`, `no_content` or `status`
 */
export async function moveArticle(
  tx: Tx,
  workspaceId: WorkspaceId,
  articleId: ArticleId,
  move: Move,
  rendering: Partial<Rendering> = {},
): Promise<{ before: ArticleRow; after: ArticleRow }> {
  const before = await lockArticle(tx, workspaceId, articleId, move);
  // A rename in progress has already read who is published; a later one sees this article.
  if (move === 'publish') await holdCategories(tx, articleId);
  const after = await tx
    .updateTable('articles')
    .set({
      status: TRANSITIONS[move].to,
      ...rendering,
      ...(move === 'publish' ? { published_at: clockTimestamp } : {}),
      updated_at: clockTimestamp,
    })
    .where('id', '=', articleId)
    .where(whereAllowed(move))
    .where(NEEDS_CONTENT.has(move) ? hasContent : sql<boolean>`true`)
    .returning(articleColumns)
    .executeTakeFirst();
  if (after === undefined) throw await whyNot(tx, articleId);
  return { before, after };
}

async function whyNot(tx: Tx, articleId: ArticleId): Promise<ServiceError> {
  const filled = await tx
    .selectFrom('articles')
    .select('id')
    .where('id', '=', articleId)
    .where(hasContent)
    .executeTakeFirst();
  return filled === undefined
    ? conflict('An article without blocks has nothing to review or publish.', 'no_content')
    : ownedByJob();
}
