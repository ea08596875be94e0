import { type RawBuilder, sql } from 'kysely';
import type { VerbContext } from '../context.ts';
import { IS_ALONE, type Turn, workInTurns } from '../db/batches.ts';
import type { Database, Tx } from '../db/database.ts';
import { inLivingProject } from '../db/living-projects.ts';
import { textStatement } from '../db/prepared.ts';
import { afterCommit, retryingConflicts } from '../db/transaction.ts';
import { ServiceError } from '../errors.ts';
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

/** What the lists of a workspace may hold, and make. */
export interface FanOutBounds {
  /** Articles on all lists; one change has any number where no other waits. */
  readonly waiting: number;
  /** Events of a day. */
  readonly daily: number;
}
const BOUNDS: FanOutBounds = { waiting: 200_000, daily: 1_000_000 };
/** A change that is refused for `waiting` may be tried again after so many seconds. */
const RETRY_AFTER_SECONDS = 60;

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
 * @throws {ServiceError} RATE_LIMITED when too many articles wait on lists (contract.md W107)
 */
export async function announceToCarriers(
  tx: Tx,
  context: Pick<VerbContext, 'actor' | 'requestId'>,
  carriers: RawBuilder<unknown>,
  changed: readonly ArticleChange[],
  bounds: Pick<FanOutBounds, 'waiting'> = BOUNDS,
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
  if (ids !== null) {
    await recordArticleUpdates(tx, context, ids, changed);
  } else {
    await requireFewWaiting(tx, workspaceId, announced, bounds.waiting);
    afterCommit(tx, deliveriesStored.notify);
  }
  return { articles, announced };
}

/**
 * For a transaction that has just frozen lists. Those of a workspace are counted one change after the other, and so exactly:
 * the second statement sees what the holder of the lock before has committed.
 * @throws {ServiceError} RATE_LIMITED
 */
async function requireFewWaiting(tx: Tx, workspaceId: WorkspaceId, own: number, most: number): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtext('event_fanouts'), hashtext(${workspaceId}::text))`.execute(
    tx,
  );
  const { rows } = await sql<{ articles: number }>`
    SELECT coalesce(sum(articles), 0)::integer AS articles FROM event_fanouts WHERE workspace_id = ${workspaceId}`.execute(
    tx,
  );
  const articles = rows[0]?.articles ?? 0;
  if (articles <= most || articles === own) return;
  throw new ServiceError(
    'RATE_LIMITED',
    `The events of earlier changes wait for ${articles - own} articles. Try again when fewer are waiting.`,
    { retryAfter: RETRY_AFTER_SECONDS },
  );
}

interface Expanded extends UpdatesStored {
  readonly id: FanOutId | null;
  /** Whose list was found; it waits where `workspace_id` is null. */
  readonly found: WorkspaceId | null;
  readonly alone: boolean;
}

/** SQL over `next`: articles that the workspace's lists have made events of, in a day before the present hour. */
const MADE_BEFORE = `(SELECT coalesce(sum(made.events), 0) FROM event_fanout_hours AS made
      WHERE made.workspace_id = next.workspace_id AND made.hour < next.hour AND made.hour > next.hour - interval '25 hours')`;

/**
 * Parameters: the workspace to continue after, lists and workspaces to pass over, events of a day. The list's row goes in the
 * transaction that stores its events, or keeps the articles that somebody held. A list counts whole before its events are
 * made, once, so that relays that expand lists of one workspace at a time stay within the bound together.
 */
const expandOne = textStatement<Expanded>(
  'expand_fan_out',
  articleUpdatesOf(
    'SELECT next.* FROM next WHERE counted OR EXISTS (SELECT FROM counting)',
    `, kept AS (
    UPDATE event_fanouts AS list SET article_ids = skipped.ids, counted = true FROM source, skipped
    WHERE list.id = source.id AND skipped.ids IS NOT NULL
  ), done AS (
    DELETE FROM event_fanouts AS list USING source, skipped WHERE list.id = source.id AND skipped.ids IS NULL
  )`,
    `, (SELECT id FROM source) AS id, (SELECT workspace_id FROM next) AS found, ${IS_ALONE} AS alone`,
    `next AS MATERIALIZED (
    SELECT list.*, date_trunc('hour', now()) AS hour FROM event_fanouts AS list
    WHERE workspace_id > $1 AND id <> ALL ($2::uuid[]) AND workspace_id <> ALL ($3::uuid[])
    ORDER BY workspace_id, id LIMIT 1 FOR UPDATE SKIP LOCKED
  ), counting AS (
    INSERT INTO event_fanout_hours AS known (workspace_id, hour, events)
    SELECT workspace_id, hour, articles FROM next WHERE NOT counted AND ${MADE_BEFORE} + articles <= $4
    ON CONFLICT (workspace_id, hour) DO UPDATE SET events = known.events + excluded.events
    WHERE known.events + excluded.events + (SELECT ${MADE_BEFORE} FROM next) <= $4
    RETURNING workspace_id
  ), `,
  ),
);

/** An idle service asks this alone: to plan the other statement takes twenty times as long. */
const look = textStatement<{ isListed: boolean; isQueued: boolean }>(
  'look_for_fan_outs',
  `SELECT EXISTS (SELECT FROM event_fanouts) AS "isListed", EXISTS (SELECT FROM event_queue) AS "isQueued"`,
);

/**
 * Expands frozen lists until none is left, one transaction each, the oldest of each workspace in turn, pausing while
 * others expand: for any number of relays at once. Stores one event per article that is PUBLISHED then (others have
 * already sent a later event), for the endpoints that existed when the list was frozen. Articles that somebody holds
 * stay on their list for the next time. A lost relay leaves its list unchanged. The lists of a workspace that have made the
 * events of a day wait (contract.md W108).
 *
 * Signals the sequencer as well when events wait for a number.
 *
 * @returns true when the signal ended it, and there may be more
 */
export async function expandFanOuts(
  db: Database,
  { signal }: { readonly signal: AbortSignal },
  { daily }: Pick<FanOutBounds, 'daily'> = BOUNDS,
): Promise<boolean> {
  const [found] = await look(db);
  if (found?.isQueued) eventsQueued.notify();
  if (!found?.isListed) return false;
  const passed = { held: [], full: [], daily };
  return workInTurns(signal, (after) => expandNext(db, after, passed));
}

interface Passed {
  /** Lists of which some articles were held. */
  readonly held: FanOutId[];
  /** Workspaces whose lists have made the events of a day. */
  readonly full: WorkspaceId[];
  readonly daily: number;
}

/**
 * @param passed what is passed over; added to
 * @returns whose list it was; null when no later workspace has an unlocked one
 */
async function expandNext(
  db: Database,
  after: WorkspaceId,
  { held, full, daily }: Passed,
): Promise<Turn | null> {
  const [expanded] = await retryingConflicts(() => expandOne(db, after, held, full, daily));
  if (expanded === undefined) return null;
  const { id, found: workspaceId, alone: isAlone } = expanded;
  if (workspaceId !== null && id === null) full.push(workspaceId);
  if (id !== null && expanded.skipped) held.push(id);
  if (expanded.events > 0) signalOf(expanded).notify();
  return workspaceId && { workspaceId, isAlone };
}
