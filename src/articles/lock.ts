import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { prepare, type Slots } from '../db/prepared.ts';
import type { Tables } from '../db/tables.ts';
import { conflict, notFound, type ServiceError } from '../errors.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';
import { type ArticleRow, articleColumns } from './queries.ts';
import { type ArticleAction, allows, JOB_OWNED, OWNING, TRANSITIONS } from './states.ts';

/**
 * Guard of every statement that edits, moves or deletes an article: its status allows the action, and no open job owns it.
 */
export const whereAllowed = (action: ArticleAction) => (eb: ExpressionBuilder<Tables, 'articles'>) =>
  eb.and([
    eb('articles.status', 'in', TRANSITIONS[action].from),
    eb.not(
      eb.exists(
        eb
          .selectFrom('jobs')
          .select(sql.lit(1).as('one'))
          .whereRef('jobs.article_id', '=', 'articles.id')
          .where('jobs.purpose', 'in', OWNING)
          .where('jobs.ended_at', 'is', null),
      ),
    ),
  ]);

/** 409 because a job owns the article's content and status. */
export const ownedByJob = (): ServiceError =>
  conflict('A job is working on this article. Wait for it to end, or cancel it.', 'job_running');

/** 409 for a move that the state machine does not allow. */
const forbiddenMove = (action: ArticleAction, status: ArticleRow['status']): ServiceError =>
  conflict(
    `The article is ${status}; "${action}" is possible only from ${TRANSITIONS[action].from.join(', ')}.`,
    'status',
  );

/** An article locked for a move. */
export type MovableArticle = Pick<ArticleRow, 'id' | 'status' | 'rendered_by' | 'content_version'>;

export type Named = { workspaceId: WorkspaceId; articleId: ArticleId };
const locked = (db: Kysely<Tables>, slot: Slots<Named>) =>
  db
    .selectFrom('articles')
    .where('workspace_id', '=', slot('workspaceId'))
    .where('id', '=', slot('articleId'))
    .forUpdate();
const lockWhole = prepare('lock_article', (db, slot: Slots<Named>) =>
  locked(db, slot).select(articleColumns),
);
/** Builds the statement that locks an article for a move. */
export const buildLockToMove = (db: Kysely<Tables>, slot: Slots<Named>) =>
  locked(db, slot).select(['id', 'status', 'rendered_by', 'content_version']);
const lockToMove = prepare('lock_article_to_move', buildLockToMove);

/**
 * True while a job owns the locked article. A separate statement sees a job that was committed while this transaction
 * waited for the lock.
 */
export async function isOwned(tx: Tx, articleId: ArticleId): Promise<boolean> {
  const job = await tx
    .selectFrom('jobs')
    .select('id')
    .where('article_id', '=', articleId)
    .where('purpose', 'in', OWNING)
    .where('ended_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return job !== undefined;
}

/**
 * Locks the article for the action, so that it does not change before the guarded statement.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running` or `status`
 */
export async function lockArticle(
  tx: Tx,
  workspaceId: WorkspaceId,
  articleId: ArticleId,
  action: ArticleAction,
): Promise<ArticleRow> {
  const [row] = await lockWhole(tx, { workspaceId, articleId });
  if (row === undefined) throw notFound('article');
  if (JOB_OWNED.includes(row.status) || (await isOwned(tx, articleId))) throw ownedByJob();
  if (!allows(action, row.status)) throw forbiddenMove(action, row.status);
  return row;
}

/**
 * {@link lockArticle} without the query for an open job, which the guarded statement repeats.
 * @throws {ServiceError} as `lockArticle`, except for a job of an article whose status allows the action
 */
export async function lockArticleToMove(
  tx: Tx,
  workspaceId: WorkspaceId,
  articleId: ArticleId,
  action: ArticleAction,
): Promise<MovableArticle> {
  const [row] = await lockToMove(tx, { workspaceId, articleId });
  return checkMovable(tx, row, action);
}

/** The check of {@link lockArticleToMove}. @param row the locked article; undefined when it does not exist */
export async function checkMovable(
  tx: Tx,
  row: MovableArticle | undefined,
  action: ArticleAction,
): Promise<MovableArticle> {
  if (row === undefined) throw notFound('article');
  if (allows(action, row.status)) return row;
  const owned = JOB_OWNED.includes(row.status) || (await isOwned(tx, row.id));
  throw owned ? ownedByJob() : forbiddenMove(action, row.status);
}

/** The error when the guarded statement did not move a locked article whose status allows it. */
export const moveRefusal = async (tx: Tx, articleId: ArticleId): Promise<ServiceError> =>
  (await isOwned(tx, articleId))
    ? ownedByJob()
    : conflict('An article without blocks has nothing to review or publish.', 'no_content');

/**
 * Locks the categories of a locked article until the transaction ends: ordered by id, as everywhere, so that it cannot
 * deadlock with a rename or a deletion. Always true; the guarded statement contains it as a condition.
 */
export const lockCategories = (articleId: ArticleId) => sql<boolean>`(
  SELECT count(*) FROM (
    SELECT id FROM categories
    WHERE id IN (SELECT category_id FROM article_categories WHERE article_id = ${articleId})
    ORDER BY id
    FOR KEY SHARE
  ) AS held) >= 0`;
