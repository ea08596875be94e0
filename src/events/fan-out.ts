import { type RawBuilder, sql } from 'kysely';
import type { VerbContext } from '../context.ts';
import { IS_ALONE, type Turn, workInTurns } from '../db/batches.ts';
import type { Database, Tx } from '../db/database.ts';
import { inLivingProject } from '../db/living-projects.ts';
import { textStatement } from '../db/prepared.ts';
import { afterCommit, retryingConflicts } from '../db/transaction.ts';
import type { ArticleId, FanOutId, WorkspaceId } from '../ids.ts';
import { currentTraceparent } from '../tracing/spans.ts';
import { articleUpdatesOf, recordArticleUpdates, signalOf, type UpdatesStored } from './article-updates.ts';
import type { ArticleChange } from './catalog.ts';
import { deliveriesStored, eventsQueued } from './stored.ts';

/** A change with more events or deliveries leaves them to the relays. */
const MAX_AT_ONCE = 1_000;
/** Limits of one transaction of a relay: articles, and deliveries. */
const MAX_ARTICLES = 1_000;
const MAX_DELIVERIES = 5_000;

interface Frozen {
  readonly articles: number;
  readonly announced: number;
  /** The articles to notify of now; null when they were frozen. */
  readonly ids: ArticleId[] | null;
}

/**
 * Announces a change to the PUBLISHED ones of any number of articles, by article.updated. Up to 1,000 events and
 * deliveries are stored in the caller's transaction. For more, it only freezes the articles' ids, and relays store the
 * events of those that are still PUBLISHED then (`expandFanOuts`): a change of very many articles takes a moment.
 *
 * @param carriers a SELECT of `article_id`, run once
 * @returns how many articles it touched, and how many are announced
 */
export async function announceToCarriers(
  tx: Tx,
  context: Pick<VerbContext, 'actor' | 'requestId'>,
  carriers: RawBuilder<unknown>,
  changed: readonly ArticleChange[],
): Promise<{ readonly articles: number; readonly announced: number }> {
  const { workspaceId } = context.actor;
  // Counts all subscribing endpoints: one that is inactive now may be active when the list is expanded.
  const { rows } = await sql<Frozen>`
    WITH touched AS (${carriers}
    ), counted AS MATERIALIZED (
      SELECT count(*) AS articles,
        coalesce(array_agg(article.id) FILTER (WHERE article.status = 'PUBLISHED'), '{}') AS ids
      FROM touched JOIN articles AS article ON article.id = touched.article_id
      WHERE ${inLivingProject(workspaceId, 'article.project_id')}
    ), listening AS MATERIALIZED (
      SELECT count(*)::integer AS living, count(*) FILTER (WHERE active)::integer AS active
      FROM webhook_endpoints
      WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL AND 'article.updated' = ANY (events)
    ), announced AS MATERIALIZED (
      SELECT articles, ids, cardinality(ids) AS announced,
        GREATEST(1, active) * cardinality(ids)::bigint > ${MAX_AT_ONCE} AS later,
        LEAST(${MAX_ARTICLES}, GREATEST(1, ${MAX_DELIVERIES} / GREATEST(1, living))) AS size
      FROM counted, listening
    ), frozen AS (
      INSERT INTO event_fanouts (workspace_id, changed, request_id, traceparent, article_ids, created_at)
      SELECT ${workspaceId}, ${[...changed]}, ${context.requestId}, ${currentTraceparent()},
        ids[first : first + size - 1], clock_timestamp()
      FROM announced CROSS JOIN LATERAL generate_series(1, announced, size) AS first
      WHERE later
    )
    SELECT articles::integer, announced, CASE WHEN announced > 0 AND NOT later THEN ids END AS ids FROM announced
  `.execute(tx);
  const { articles, announced, ids } = rows[0] ?? { articles: 0, announced: 0, ids: null };
  if (announced === 0) return { articles, announced };
  if (ids !== null) await recordArticleUpdates(tx, context, ids, changed);
  else afterCommit(tx, deliveriesStored.notify);
  return { articles, announced };
}

interface Expanded extends UpdatesStored {
  readonly id: FanOutId | null;
  readonly alone: boolean;
  readonly queued: boolean;
}

/**
 * Parameters: the workspace to continue after, lists to pass over. The list's row goes in the transaction that stores
 * its events, or keeps the articles that somebody held. Says also whether events wait for a number, so that an idle
 * service asks no statement more for that.
 */
const expandOne = textStatement<Expanded>(
  'expand_fan_out',
  articleUpdatesOf(
    `
    SELECT * FROM event_fanouts WHERE workspace_id > $1 AND id <> ALL ($2::uuid[])
    ORDER BY workspace_id, id LIMIT 1 FOR UPDATE SKIP LOCKED`,
    `, kept AS (
    UPDATE event_fanouts AS list SET article_ids = skipped.ids FROM source, skipped
    WHERE list.id = source.id AND skipped.ids IS NOT NULL
  ), done AS (
    DELETE FROM event_fanouts AS list USING source, skipped WHERE list.id = source.id AND skipped.ids IS NULL
  )`,
    `, (SELECT id FROM source) AS id, ${IS_ALONE} AS alone, EXISTS (SELECT FROM event_queue) AS queued`,
  ),
);

/**
 * Expands frozen lists until none is left, one transaction each, the oldest of each workspace in turn, pausing while
 * others expand: for any number of relays at once. Stores one event per article that is PUBLISHED then (others have
 * already sent a later event), for the endpoints that existed when the list was frozen. Articles that somebody holds
 * stay on their list for the next time. A lost relay leaves its list unchanged.
 *
 * Signals the sequencer as well when events wait for it.
 *
 * @returns true when the signal ended it, and there may be more
 */
export function expandFanOuts(db: Database, { signal }: { readonly signal: AbortSignal }): Promise<boolean> {
  const held: FanOutId[] = [];
  return workInTurns(signal, (after) => expandNext(db, after, held));
}

/**
 * @param held lists that are passed over, of which some articles were held; added to
 * @returns whose list it was; null when no later workspace has an unlocked one
 */
async function expandNext(db: Database, after: WorkspaceId, held: FanOutId[]): Promise<Turn | null> {
  const [expanded] = await retryingConflicts(() => expandOne(db, after, held));
  if (expanded === undefined) return null;
  const { id, workspace_id: workspaceId, alone: isAlone } = expanded;
  if (id !== null && expanded.skipped) held.push(id);
  if (expanded.events > 0) signalOf(expanded).notify();
  else if (expanded.queued) eventsQueued.notify();
  return workspaceId && { workspaceId, isAlone };
}
