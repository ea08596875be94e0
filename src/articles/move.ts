import { type Kysely, sql } from 'kysely';
import { clockTimestamp } from '../db/clock.ts';
import type { Tx } from '../db/database.ts';
import { prepare, prepareBoth, type Slots } from '../db/prepared.ts';
import type { Tables } from '../db/tables.ts';
import { RENDERER } from '../document/render/shared.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';
import {
  checkMovable,
  holdsCategories,
  lockArticleToMove,
  lockingToMove,
  type MovableArticle,
  type Named,
  whereAllowed,
  whyNotMoved,
} from './lock.ts';
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
): Promise<{ before: MovableArticle; after: ArticleRow }> {
  const before = await lockArticleToMove(tx, workspaceId, articleId, move);
  return { before, after: await moveLocked(tx, articleId, move, null) };
}

/** What publishing changes besides the status. */
interface Publication {
  /** Of the body; null keeps the stored one. */
  readonly rendering: Rendering | null;
  /** As reported now; the one before stays without it. */
  readonly publishedUrl: string | undefined;
  readonly requestId: string;
}

/** What the other moves bind in its place. */
const NOTHING: Publication = { rendering: null, publishedUrl: undefined, requestId: '' };
const STORED = { content_html: null, content_markdown: null, rendered_by: null };

type Values = { readonly [Column in keyof Rendering]: Rendering[Column] | null } & {
  readonly articleId: ArticleId;
  readonly publishedUrl: string | null;
  readonly requestId: string;
};

/**
 * Builds the guarded statement of a move; only publishing writes the rendering, and notes the article's address.
 * @param isRendered it keeps the stored rendering, and moves nothing that today's renderer has not rendered
 */
const moving =
  (move: Move, isRendered = false) =>
  (db: Kysely<Tables>, slot: Slots<Values>) => {
    const isPublished = move === 'publish';
    const orStored = <Column extends keyof Rendering>(column: Column) =>
      sql<NonNullable<Rendering[Column]>>`coalesce(${slot(column)}, ${sql.ref(`articles.${column}`)})`;
    const moved = db
      .updateTable('articles')
      .set({
        status: TRANSITIONS[move].to,
        ...(isPublished
          ? {
              ...(isRendered
                ? {}
                : {
                    content_html: orStored('content_html'),
                    content_markdown: orStored('content_markdown'),
                    rendered_by: orStored('rendered_by'),
                  }),
              published_at: clockTimestamp,
              published_url: sql<string | null>`coalesce(${slot('publishedUrl')}, articles.published_url)`,
            }
          : {}),
        updated_at: clockTimestamp,
      })
      .where('id', '=', slot('articleId'))
      .where(whereAllowed(move))
      .$if(NEEDS_CONTENT.has(move), (update) => update.where(hasContent))
      .$if(isRendered, (update) => update.where('rendered_by', '=', RENDERER))
      .$if(isPublished, (update) => update.where(holdsCategories(slot('articleId'))))
      .returning(articleColumns);
    if (!isPublished) return moved;
    return db
      .with('moved', () => moved)
      .with('noted', (cte) =>
        cte
          .insertInto('address_changes')
          .columns(['workspace_id', 'project_id', 'target_id', 'request_id'])
          .expression(
            cte
              .selectFrom('moved')
              .select([
                'workspace_id',
                'project_id',
                'id',
                sql<string>`${slot('requestId')}`.as('request_id'),
              ]),
          ),
      )
      .selectFrom('moved')
      .selectAll();
  };
const statementOf = (move: Move) => prepare(`move_article_${move}`, moving(move));
const STATEMENTS = {
  submit: statementOf('submit'),
  approve: statementOf('approve'),
  reject: statementOf('reject'),
  request_changes: statementOf('request_changes'),
  publish: statementOf('publish'),
  unpublish: statementOf('unpublish'),
} as const satisfies Record<Move, unknown>;

const lockAndPublish = prepareBoth(
  ['lock_article_to_move', 'publish_rendered_article'],
  lockingToMove,
  moving('publish', true),
);

/**
 * Locks an article to publish it, and does so if its stored rendering is today's, in one message.
 * @returns the article before, and after, unless it still has to be moved
 * @throws {ServiceError} as `lockArticleToMove`
 */
export async function publishRendered(
  tx: Tx,
  values: Named & Omit<Publication, 'rendering'>,
): Promise<{ before: MovableArticle; after: ArticleRow | undefined }> {
  const { publishedUrl = null, ...named } = values;
  const [[row], [after]] = await lockAndPublish(tx, { ...STORED, ...named, publishedUrl });
  return { before: await checkMovable(tx, row, 'publish'), after };
}

/**
 * Moves an article that `lockArticleToMove` has locked. Publishing sets publishedAt, which unpublishing keeps; it waits
 * for changes of the article's categories: a rename that is under way has asked already who is published, and one that
 * comes later sees this article. It notes the article's address in the same statement.
 * @throws {ServiceError} CONFLICT `job_running` or `no_content`
 */
export async function moveLocked<Kind extends Move>(
  tx: Tx,
  articleId: ArticleId,
  move: Kind,
  publication: Kind extends 'publish' ? Publication : null,
): Promise<ArticleRow> {
  const { rendering, publishedUrl = null, requestId } = publication ?? NOTHING;
  const [after] = await STATEMENTS[move](tx, {
    articleId,
    publishedUrl,
    requestId,
    ...(rendering ?? STORED),
  });
  if (after === undefined) throw await whyNotMoved(tx, articleId);
  return after;
}
