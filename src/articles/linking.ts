/**
 * Articles whose links lead elsewhere since another one was published, moved or deleted, or since their project has
 * another address template. Whoever changes an address notes it in its transaction (`recordAddressChange`); workers turn
 * notes into the list of the articles that link there, and render those again, one transaction each.
 */
import type { Logger } from 'pino';
import { workInTurns } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import { textStatement } from '../db/prepared.ts';
import { retryingConflicts } from '../db/transaction.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';
import { keepDoing } from '../pause.ts';
import { onBehalfOf } from '../threads/share.ts';
import { prepareBody, withRenderings } from './prepare.ts';
import { articleColumns } from './queries.ts';
import { renderAgain } from './render.ts';

/** Between two looks for what was noted. */
const POLL_MS = 1_000;
/** Notes that one statement turns into a list. */
const MAX_NOTES = 100;
/** How long a rendering waits for a thread. All others wait behind it: a workspace that keeps its threads busy is passed over. */
const THREAD_WAIT_MS = 5_000;

/**
 * Parameter: notes at most. Those of one address are one; of a project's template each article is looked at once, however
 * many links it has.
 */
const listNoted = textStatement<{ notes: number }>(
  'list_linking_articles',
  `WITH noted AS (
     DELETE FROM address_changes WHERE id = ANY (ARRAY(
       SELECT id FROM address_changes ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED))
     RETURNING workspace_id, project_id, target_id, request_id
   ), changed AS (
     SELECT DISTINCT ON (project_id, target_id) * FROM noted ORDER BY project_id, target_id
   ), linking AS (
     SELECT link.article_id, link.workspace_id, changed.request_id FROM changed
     JOIN article_links AS link ON link.project_id = changed.project_id AND link.target_id = changed.target_id
     UNION ALL
     SELECT article.id, article.workspace_id, changed.request_id FROM changed
     JOIN articles AS article ON (article.workspace_id, article.project_id) = (changed.workspace_id, changed.project_id)
     CROSS JOIN LATERAL (SELECT FROM article_links WHERE article_id = article.id LIMIT 1) AS link
     WHERE changed.target_id IS NULL
   ), listed AS (
     INSERT INTO stale_renderings (article_id, workspace_id, request_id)
     SELECT DISTINCT ON (article_id) article_id, workspace_id, request_id FROM linking ORDER BY article_id
     ON CONFLICT (article_id) DO NOTHING
   )
   SELECT count(*)::integer AS notes FROM noted`,
);

/**
 * The list goes with the notes it was made of: a worker that is lost leaves either. Notes that are too many for one
 * statement, by what links there, are listed by fewer at a time.
 */
async function listLinking(db: Database): Promise<void> {
  for (let most = MAX_NOTES; ; ) {
    try {
      const [listed] = await retryingConflicts(() => listNoted(db, most));
      if ((listed?.notes ?? 0) < most) return;
    } catch (error) {
      if (most === 1) throw error;
      most /= 10;
    }
  }
}

interface Stale {
  readonly article_id: ArticleId;
  readonly workspace_id: WorkspaceId;
  readonly request_id: string | null;
}

/**
 * Parameter: the workspace after which to look. What is taken is due again in a minute, should its worker be lost or
 * its rendering fail; two workers that have the same one do it once.
 */
const takeStale = textStatement<Stale>(
  'take_stale_rendering',
  `UPDATE stale_renderings SET due_at = clock_timestamp() + interval '1 minute'
   WHERE article_id = (
     SELECT article_id FROM stale_renderings WHERE workspace_id > $1 AND due_at <= clock_timestamp()
     ORDER BY workspace_id, due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
   RETURNING article_id, workspace_id, request_id`,
);

/**
 * The entry goes with the rendering, and before addresses are read: one that changes later makes another. The article's
 * lock comes first, as in a save, whose own rendering is found to be the same.
 */
async function renderStale(db: Database, stale: Stale): Promise<void> {
  const { article_id: id, workspace_id: workspaceId, request_id: requestId } = stale;
  const origin = { actor: { workspaceId }, requestId: requestId ?? '' };
  const prepared = await prepareBody(db, origin, id);
  await withRenderings(
    db,
    async (tx, render) => {
      const article = await tx
        .selectFrom('articles')
        .select(articleColumns)
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirst();
      const { numDeletedRows } = await tx
        .deleteFrom('stale_renderings')
        .where('article_id', '=', id)
        .executeTakeFirstOrThrow();
      if (article !== undefined && numDeletedRows > 0n) await renderAgain(tx, origin, render, [article]);
    },
    prepared,
  );
}

/**
 * Renders what there is to render until nothing is due: the article that is due first of each workspace in turn, with
 * rests. Any number of workers do so at once.
 * @param onError is told of an article that could not be rendered, which is tried again in a minute, or, without one, why
 *   notes could not be listed
 */
export async function renderLinking(
  db: Database,
  { signal, onError }: { signal: AbortSignal; onError: (error: unknown, articleId?: ArticleId) => void },
): Promise<void> {
  let lookAt = 0;
  await workInTurns(signal, async (after) => {
    if (performance.now() >= lookAt) {
      await listLinking(db).catch(onError);
      lookAt = performance.now() + POLL_MS;
    }
    const [stale] = await retryingConflicts(() => takeStale(db, after));
    if (stale === undefined) return null;
    await onBehalfOf(stale.workspace_id, () => renderStale(db, stale), THREAD_WAIT_MS).catch(
      (error: unknown) => onError(error, stale.article_id),
    );
    return { workspaceId: stale.workspace_id };
  });
}

/** Does so for as long as the process lives. @returns how to stop it, which waits for the article in hand */
export function startLinking(db: Database, logger: Logger): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const onError = (err: unknown, articleId?: ArticleId) =>
    logger.warn({ err, articleId }, 'links not rendered again yet');
  const running = keepDoing(() => renderLinking(db, { signal, onError }), {
    everyMs: POLL_MS,
    signal,
    onError: (err) => logger.warn({ err }, 'changed addresses not looked at'),
  });
  return () => {
    stopping.abort();
    return running;
  };
}
