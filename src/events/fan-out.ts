import { type RawBuilder, sql } from 'kysely';
import type { VerbContext } from '../context.ts';
import { IS_ALONE, type Turn, workInTurns } from '../db/batches.ts';
import type { Database, Tx } from '../db/database.ts';
import { textStatement } from '../db/prepared.ts';
import { afterCommit, retryingConflicts } from '../db/transaction.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';
import { articleUpdatesOf, recordArticleUpdates } from './article-updates.ts';
import type { ArticleChange } from './catalog.ts';
import { deliveriesStored } from './stored.ts';

/** A change that makes more deliveries leaves them to the relays. */
const MAX_DELIVERIES_AT_ONCE = 1_000;
/** What one transaction of a relay makes at most: articles, and deliveries. */
const MAX_ARTICLES = 1_000;
const MAX_DELIVERIES = 5_000;

interface Frozen {
  readonly articles: number;
  readonly announced: number;
  /** The articles to be told of now; null when they were frozen, or nobody listens. */
  readonly ids: ArticleId[] | null;
}

/**
 * Announces a change to the PUBLISHED ones of any number of articles, by article.updated. What makes 1,000 deliveries or
 * fewer is stored in the caller's transaction. For more, the articles' ids are frozen there, and relays store the events
 * of those that are still PUBLISHED then (`expandFanOuts`): so a change that touches very many takes a moment.
 *
 * @param carriers a SELECT of `article_id`, run once
 * @returns how many articles it touched, and how many of them are announced: none when no endpoint listens
 */
export async function announceToCarriers(
  tx: Tx,
  context: Pick<VerbContext, 'actor' | 'requestId'>,
  carriers: RawBuilder<unknown>,
  changed: readonly ArticleChange[],
): Promise<{ readonly articles: number; readonly announced: number }> {
  const { workspaceId } = context.actor;
  // Lists are cut for all endpoints that subscribe: one that is not active now may be when they are expanded.
  const { rows } = await sql<Frozen>`
    WITH touched AS (${carriers}
    ), counted AS MATERIALIZED (
      SELECT count(*) AS articles,
        coalesce(array_agg(article.id) FILTER (WHERE article.status = 'PUBLISHED'), '{}') AS ids
      FROM touched JOIN articles AS article ON article.id = touched.article_id
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

/** Parameter: the workspace after which to look. The row goes with what is made of it, or stays with it. */
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
 * Works off frozen lists until none is left, one transaction each, the oldest one of each workspace in turn, with rests
 * while others are at work: for relays, any number of them at once. One event for each article of a list that is
 * PUBLISHED then, for the endpoints that were there when it was frozen; one that is not has told more itself. A list
 * whose relay is lost is as it was.
 *
 * @returns true when the signal ended it, and there may be more
 */
export const expandFanOuts = (db: Database, { signal }: { readonly signal: AbortSignal }): Promise<boolean> =>
  workInTurns(signal, (after) => expandNext(db, after));

/** @returns whose list it was; null when no later workspace has one that nobody else works on */
async function expandNext(db: Database, after: WorkspaceId): Promise<Turn | null> {
  const [expanded] = await retryingConflicts(() => expandOne(db, after));
  if ((expanded?.events ?? 0) > 0) deliveriesStored.notify();
  const workspaceId = expanded?.workspace_id ?? null;
  return workspaceId && { workspaceId, isAlone: expanded?.alone ?? false };
}
