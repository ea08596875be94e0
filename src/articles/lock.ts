import { type ExpressionBuilder, sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { conflict, notFound, type ServiceError } from '../errors.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';
import { type ArticleRow, articleColumns } from './queries.ts';
import { type ArticleAction, allows, JOB_OWNED, TRANSITIONS } from './states.ts';

/**
 * The guard of every statement that edits, moves or deletes an article: its status is one of those the
 * action starts from, and no job that is still open owns it.
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
  const row = await tx
    .selectFrom('articles')
    .select(articleColumns)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', articleId)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) throw notFound('article');
  // A separate statement, so that it sees a job committed while this one waited for the lock.
  const job = await tx
    .selectFrom('jobs')
    .select('id')
    .where('article_id', '=', articleId)
    .where('ended_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (job !== undefined || JOB_OWNED.includes(row.status)) throw ownedByJob();
  if (!allows(action, row.status)) throw forbiddenMove(action, row.status);
  return row;
}

/**
 * Keeps the categories of a locked article as they are until the transaction ends: by id, as assigning them does, so
 * that there is no deadlock with a rename or a deletion.
 */
export async function holdCategories(tx: Tx, articleId: ArticleId): Promise<void> {
  await tx
    .selectFrom('categories')
    .select('id')
    .where('id', 'in', (eb) =>
      eb.selectFrom('article_categories').select('category_id').where('article_id', '=', articleId),
    )
    .orderBy('id')
    .forKeyShare()
    .execute();
}
