import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { prepare, type Slots } from '../db/prepared.ts';
import type { Tables } from '../db/tables.ts';
import { conflict, notFound, type ServiceError } from '../errors.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';
import { type ArticleRow, articleColumns } from './queries.ts';
import { type ArticleAction, allows, JOB_OWNED, OWNING, TRANSITIONS } from './states.ts';

/**
 * The guard of every statement that edits, moves or deletes an article: its status is one of those the
 * action starts from, and no open job owns it.
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

/** An article that is locked to be moved. */
export type MovableArticle = Pick<ArticleRow, 'id' | 'status' | 'rendered_by'>;

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
/** Builds the statement that locks an article to move it. */
export const lockingToMove = (db: Kysely<Tables>, slot: Slots<Named>) =>
  locked(db, slot).select(['id', 'status', 'rendered_by']);
const lockToMove = prepare('lock_article_to_move', lockingToMove);

/**
 * True while a job owns the locked article. A statement of its own: it sees a job that was committed while the article's
 * lock was waited for.
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
 * Locks the article for the action, so that what is read here is what the guarded statement changes.
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
 * The same for a guarded statement that comes next and finds an open job itself: one question less.
 * @throws {ServiceError} as `lockArticle`, but for a job of an article whose status allows the action
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

/** What {@link lockArticleToMove} does once the article is locked. @param row the locked one, if there is one */
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

/** Why the guarded statement did not move a locked article whose status allows it. */
export const whyNotMoved = async (tx: Tx, articleId: ArticleId): Promise<ServiceError> =>
  (await isOwned(tx, articleId))
    ? ownedByJob()
    : conflict('An article without blocks has nothing to review or publish.', 'no_content');

/**
 * Keeps the categories of a locked article as they are until the transaction ends: by id, as assigning them does, so
 * that nobody waits in a circle with a rename or a deletion. Always true, and a part of the guarded statement, which
 * does its work once this has got its locks.
 */
export const holdsCategories = (articleId: ArticleId) => sql<boolean>`(
  SELECT count(*) FROM (
    SELECT id FROM categories
    WHERE id IN (SELECT category_id FROM article_categories WHERE article_id = ${articleId})
    ORDER BY id
    FOR KEY SHARE
  ) AS held) >= 0`;
