import { type RawBuilder, sql } from 'kysely';
import type { VerbContext } from '../context.ts';
import { IS_ALONE, type Turn, workInTurns } from '../db/batches.ts';
import type { Database, Tx } from '../db/database.ts';
import { inLivingProject } from '../db/living-projects.ts';
import { textStatement } from '../db/prepared.ts';
import { afterCommit, retryingConflicts } from '../db/transaction.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';
import { articleUpdatesOf, recordArticleUpdates } from './article-updates.ts';
import type { ArticleChange } from './catalog.ts';
import { deliveriesStored } from './stored.ts';

/** A change with more deliveries leaves them to the relays. */
const MAX_DELIVERIES_AT_ONCE = 1_000;
/** Limits of one transaction of a relay: articles, and deliveries. */
const MAX_ARTICLES = 1_000;
const MAX_DELIVERIES = 5_000;

interface Frozen {
  readonly articles: number;
  readonly announced: number;
  /** The articles to notify of now; null when they were frozen, or no endpoint subscribes. */
  readonly ids: ArticleId[] | null;
}

/**
 * Announces a change to the PUBLISHED ones of any number of articles, by article.updated. Up to 1,000 deliveries are
 * stored in the caller's transaction. For more, it only freezes the articles' ids, and relays store the events of those
 * that are still PUBLISHED then (`expandFanOuts`): a change of very many articles takes a moment.
 *
 * @param carriers a SELECT of `article_id`, run once
 * @returns how many articles it touched, and how many are announced: none when no endpoint subscribes
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
      SELECT articles, ids, CASE WHEN active > 0 THEN cardinality(ids) ELSE 0 END AS announced,
        active * cardinality(ids)::bigint > ${MAX_DELIVERIES_AT_ONCE} AS later,
        LEAST(${MAX_ARTICLES}, GREATEST(1, ${MAX_DELIVERIES} / GREATEST(1, living))) AS size
      FROM counted, listening
    ), frozen AS (
      INSERT INTO event_fanouts (workspace_id, changed, request_id, article_ids, created_at)
      SELECT ${workspaceId}, ${[...changed]}, ${context.requestId}, ids[first : first + size - 1], clock_timestamp()
      FROM announced CROSS JOIN LATERAL generate_series(1, announced, size) AS first
      WHERE later
    )
    SELECT articles::integer, announced, CASE WHEN announced > 0 AND NOT later THEN ids END AS ids FROM announced
  `.execute(tx);
  const { articles, announced, ids } = rows[0] ?? { articles: 0, announced: 0, ids: null };
  if (ids !== null) await recordArticleUpdates(tx, context, ids, changed);
  else if (announced > 0) afterCommit(tx, deliveriesStored.notify);
  return { articles, announced };
}

interface Expanded {
  readonly workspace_id: WorkspaceId | null;
  readonly events: number;
  readonly alone: boolean;
}

/** Parameter: the workspace to continue after. The list's row is deleted in the transaction that stores its events. */
const expandOne = textStatement<Expanded>(
  'expand_fan_out',
  articleUpdatesOf(
    `
    DELETE FROM event_fanouts
    WHERE id = (
      SELECT id FROM event_fanouts WHERE workspace_id > $1 ORDER BY workspace_id, id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING *`,
    `, ${IS_ALONE} AS alone`,
  ),
);

/**
 * Expands frozen lists until none is left, one transaction each, the oldest of each workspace in turn, pausing while
 * others expand: for any number of relays at once. Stores one event per article that is PUBLISHED then (others have
 * already sent a later event), for the endpoints that existed when the list was frozen. A lost relay leaves its list
 * unchanged.
 *
 * @returns true when the signal ended it, and there may be more
 */
export const expandFanOuts = (db: Database, { signal }: { readonly signal: AbortSignal }): Promise<boolean> =>
  workInTurns(signal, (after) => expandNext(db, after));

/** @returns whose list it was; null when no later workspace has an unlocked one */
async function expandNext(db: Database, after: WorkspaceId): Promise<Turn | null> {
  const [expanded] = await retryingConflicts(() => expandOne(db, after));
  if ((expanded?.events ?? 0) > 0) deliveriesStored.notify();
  const workspaceId = expanded?.workspace_id ?? null;
  return workspaceId && { workspaceId, isAlone: expanded?.alone ?? false };
}
