import { type Kysely, sql } from 'kysely';
import { clockTimestamp } from '../db/clock.ts';
import type { Tx } from '../db/database.ts';
import { prepare, prepareBoth, type Slots } from '../db/prepared.ts';
import type { Tables } from '../db/tables.ts';
import { RENDERER } from '../document/render/shared.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';
import { contentMoved } from './etag.ts';
import {
  buildLockToMove,
  checkMovable,
  lockArticleToMove,
  lockCategories,
  type MovableArticle,
  moveRefusal,
  type Named,
  whereAllowed,
} from './lock.ts';
import { type ArticleRow, articleChanged, articleColumns } from './queries.ts';
import { OutdatedRendering } from './rendering.ts';
import { type ArticleAction, TRANSITIONS } from './states.ts';

/** Actions that change the status. */
export type Move = Exclude<ArticleAction, 'edit' | 'delete' | 'attach' | 'detach'>;

/**
 * Moves that need a block. An empty draft of a failed translation must stay a draft, so that a later request can fill it.
 */
const NEEDS_CONTENT: ReadonlySet<Move> = new Set(['submit', 'publish']);
const hasContent = sql<boolean>`jsonb_array_length(document -> 'blocks') > 0`;

interface Values extends Named {
  /** Null keeps the earlier one. */
  readonly publishedUrl: string | null;
  readonly requestId: string;
}

/** Builds the guarded statement of a move. */
const buildMove = (move: Move) => (db: Kysely<Tables>, slot: Slots<Named>) =>
  db
    .updateTable('articles')
    .set({ status: TRANSITIONS[move].to, ...articleChanged })
    .where('id', '=', slot('articleId'))
    .where(whereAllowed(move))
    .$if(NEEDS_CONTENT.has(move), (update) => update.where(hasContent));

/**
 * Publishing sets publishedAt, which unpublishing keeps, and requires the current renderer's rendering. It locks the
 * article's categories: a concurrent rename has either read the published articles already, or sees this one. It notes the
 * article's address in the same statement.
 */
const buildPublish = (db: Kysely<Tables>, slot: Slots<Values>) =>
  db
    .with('moved', () =>
      buildMove('publish')(db, slot)
        .set({
          published_at: clockTimestamp,
          published_url: sql<string | null>`coalesce(${slot('publishedUrl')}, articles.published_url)`,
        })
        .where('rendered_by', '=', RENDERER)
        .where(lockCategories(slot('articleId')))
        .returning(articleColumns),
    )
    .with('noted', (cte) =>
      cte
        .insertInto('address_changes')
        .columns(['workspace_id', 'project_id', 'target_id', 'target_group_id', 'request_id'])
        .expression(
          cte
            .selectFrom('moved')
            .innerJoin('projects', 'projects.id', 'moved.project_id')
            .where(sql<boolean>`coalesce(moved.published_url, projects.address_template) IS NOT NULL`)
            .select([
              'moved.workspace_id',
              'moved.project_id',
              'moved.id',
              'moved.translation_group_id',
              sql<string>`${slot('requestId')}`.as('request_id'),
            ]),
        ),
    )
    .selectFrom('moved')
    .selectAll();

interface Reviewed extends Named {
  /** Versions of the content that the move is for; null for any. */
  readonly content: readonly number[] | null;
}

const statementOf = (move: Move) =>
  prepare(`move_article_${move}`, (db, slot: Slots<Reviewed>) =>
    buildMove(move)(db, slot)
      .where(
        sql<boolean>`(${slot('content')}::integer[] IS NULL OR content_version = ANY (${slot('content')}::integer[]))`,
      )
      .returning(articleColumns),
  );
const STATEMENTS = {
  submit: statementOf('submit'),
  approve: statementOf('approve'),
  reject: statementOf('reject'),
  request_changes: statementOf('request_changes'),
  unpublish: statementOf('unpublish'),
} as const satisfies Record<Exclude<Move, 'publish'>, unknown>;

const lockAndPublish = prepareBoth(
  ['lock_article_to_move', 'publish_article'],
  buildLockToMove,
  buildPublish,
);

/**
 * Moves an article along one row of the state machine, in the caller's transaction.
 * @param content versions of the content that the move is for (contract.md R19); null for any
 * @returns the article before and after
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`, `no_content` or `status`; PRECONDITION_FAILED when
 *   the content has another version
 */
export async function moveArticle(
  tx: Tx,
  workspaceId: WorkspaceId,
  articleId: ArticleId,
  move: Exclude<Move, 'publish'>,
  content: readonly number[] | null = null,
): Promise<{ before: MovableArticle; after: ArticleRow }> {
  const before = await lockArticleToMove(tx, workspaceId, articleId, move);
  const [after] = await STATEMENTS[move](tx, { workspaceId, articleId, content });
  if (after === undefined) {
    throw content === null || content.includes(before.content_version)
      ? await moveRefusal(tx, articleId)
      : contentMoved();
  }
  return { before, after };
}

/**
 * Locks and publishes an article, in one message.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `job_running`, `no_content` or `status`
 * @throws {OutdatedRendering}
 */
export async function publishLocked(tx: Tx, values: Values): Promise<ArticleRow> {
  const [[row], [after]] = await lockAndPublish(tx, values);
  const { rendered_by } = await checkMovable(tx, row, 'publish');
  if (after !== undefined) return after;
  if (rendered_by !== RENDERER) throw new OutdatedRendering(values.articleId);
  throw await moveRefusal(tx, values.articleId);
}
