import type { auditEntry } from '../audit/record.ts';
import type { VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { type Slots, textQuery, textStatement } from '../db/prepared.ts';
import { afterCommit } from '../db/transaction.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';
import { currentTraceparent } from '../tracing/spans.ts';
import { BEHIND } from './behind.ts';
import type { ArticleChange } from './catalog.ts';
import { deliveriesStored, eventsStored, type Signal } from './stored.ts';

/**
 * SQL over `article` and `source`: an event is due for it. The CASE makes Postgres use the articles' ids: without
 * statistics, as after an import, it would read an index of all published articles for each.
 */
const IS_ANNOUNCED = `CASE WHEN article.workspace_id = source.workspace_id AND article.status = 'PUBLISHED' THEN true ELSE false END
      AND NOT EXISTS (SELECT FROM projects AS gone WHERE gone.id = article.project_id AND gone.deleted_at IS NOT NULL)`;

/**
 * One article.updated per PUBLISHED article of a set, with its deliveries. The statement builds the bodies itself: they
 * equal what `JSON.stringify` would give. Endpoints are read as in `recordEvents`.
 *
 * Articles are locked FOR SHARE, so that nobody changes one between its event and the commit: its events are numbered in
 * the order of its changes. Nobody is waited for: an article that somebody holds is left (`skipped`).
 *
 * @param source a statement of at most one row: `workspace_id`, `request_id`, `traceparent`, `changed`, `article_ids`,
 *   and `created_at`; endpoints registered later get nothing
 * @param leave what becomes of skipped articles: further parts of the WITH, over `source` and `skipped (ids)`
 * @param also further columns of the result
 * @param before parts of the WITH that `source` uses, each with a comma behind it
 */
export const articleUpdatesOf = (source: string, leave: string, also = '', before = ''): string => `
  WITH ${before}source AS MATERIALIZED (${source}
  ), subscribers AS MATERIALIZED (
    SELECT id FROM webhook_endpoints
    WHERE workspace_id = (SELECT workspace_id FROM source) AND created_at <= (SELECT created_at FROM source)
      AND deleted_at IS NULL AND active AND 'article.updated' = ANY (events)
    ORDER BY id
    FOR KEY SHARE
  ), behind AS MATERIALIZED (${BEHIND}
  ), locked AS MATERIALIZED (
    SELECT article.id, article.workspace_id, article.project_id, article.slug, article.status,
      article.primary_language, article.translation_group_id, article.title
    FROM source
    CROSS JOIN LATERAL unnest(source.article_ids) AS listed (id)
    JOIN articles AS article ON article.id = listed.id
    WHERE ${IS_ANNOUNCED}
    FOR SHARE OF article SKIP LOCKED
  ), input AS MATERIALIZED (
    SELECT uuidv7() AS id, locked.id AS article_id, source.workspace_id, source.request_id, source.traceparent,
      convert_to('{"event":"article.updated","data":' || row_to_json(payload)::text || '}', 'UTF8') AS body
    FROM source
    CROSS JOIN LATERAL unnest(source.article_ids) WITH ORDINALITY AS listed (id, position)
    JOIN locked ON locked.id = listed.id
    CROSS JOIN LATERAL (
      SELECT locked.id AS "articleId", locked.workspace_id AS "workspaceId",
        locked.project_id AS "projectId", locked.slug, locked.status,
        locked.primary_language AS "primaryLanguage",
        locked.translation_group_id AS "translationGroupId", locked.title, source.changed
    ) AS payload
    ORDER BY position
  ), skipped AS MATERIALIZED (
    SELECT array_agg(listed.id ORDER BY position) AS ids
    FROM source
    CROSS JOIN LATERAL unnest(source.article_ids) WITH ORDINALITY AS listed (id, position)
    JOIN articles AS article ON article.id = listed.id
    WHERE ${IS_ANNOUNCED}
      AND listed.id NOT IN (SELECT id FROM locked)
  ), stored AS (
    INSERT INTO events (id, workspace_id, type, article_id, body, request_id, traceparent, created_at, behind)
    SELECT id, workspace_id, 'article.updated', article_id, body, request_id, traceparent, uuid_extract_timestamp(id),
      (SELECT array_agg(endpoint_id) FROM behind)
    FROM input
  ), numbered_later AS (
    INSERT INTO event_queue (workspace_id, event_id, event_created_at)
    SELECT workspace_id, id, uuid_extract_timestamp(id) FROM input ORDER BY id
  ), queued AS (
    INSERT INTO webhook_open
      (id, workspace_id, endpoint_id, event_id, event_created_at, event_type, due_at, created_at)
    SELECT id, workspace_id, endpoint_id, event_id, uuid_extract_timestamp(event_id), 'article.updated',
      clock_timestamp(), uuid_extract_timestamp(id)
    FROM (
      SELECT uuidv7() AS id, input.workspace_id, subscribers.id AS endpoint_id, input.id AS event_id
      FROM input CROSS JOIN subscribers
      WHERE subscribers.id <> ALL (ARRAY(SELECT endpoint_id FROM behind))
      ORDER BY input.id, subscribers.id
    ) AS delivery
  )${leave}
  SELECT (SELECT workspace_id FROM source) AS workspace_id, (SELECT count(*) FROM input)::integer AS events,
    (SELECT count(*) FROM subscribers) > (SELECT count(*) FROM behind) AS heard, (SELECT ids FROM skipped) IS NOT NULL AS skipped${also}`;

/** What such a statement has done. */
export interface UpdatesStored {
  readonly workspace_id: WorkspaceId | null;
  readonly events: number;
  /** Whether an endpoint subscribes that is not behind. */
  readonly heard: boolean;
  /** Whether articles were left. */
  readonly skipped: boolean;
}

/** Signals events that such a statement has stored. */
export const signalOf = ({ heard }: Pick<UpdatesStored, 'heard'>): Signal =>
  heard ? deliveriesStored : eventsStored;

const storingUpdates = (alsoDone = ''): string =>
  articleUpdatesOf(
    `
    SELECT $1::uuid AS workspace_id, $2::text AS request_id, $3::text[] AS changed, $4::uuid[] AS article_ids,
      $5::text AS traceparent, 'infinity'::timestamptz AS created_at`,
    `, left_to_relays AS (
    INSERT INTO event_fanouts (workspace_id, changed, request_id, traceparent, article_ids, created_at)
    SELECT source.workspace_id, changed, request_id, traceparent, ids, clock_timestamp() FROM source, skipped
    WHERE ids IS NOT NULL
  )${alsoDone}`,
  );
const storeUpdates = textStatement<UpdatesStored>('record_article_updates', storingUpdates());
const AUDITED_UPDATES = storingUpdates(`, audited AS (
    INSERT INTO audit_entries
      (workspace_id, request_id, id, actor_kind, actor_id, action, target_type, target_id, details, created_at)
    VALUES ($1, $2, $6, $7, $8, $9, $10, $11, $12, clock_timestamp())
  )`);

type AuditEntry = ReturnType<typeof auditEntry>;

/** What such a statement needs besides the workspace and the request of its audit entry. */
export interface AuditedUpdates extends AuditEntry {
  readonly changed: readonly ArticleChange[];
  readonly articleIds: readonly ArticleId[];
  readonly traceparent: string | null;
}

/** Builds the statement of {@link recordArticleUpdates} with an audit entry, for a message of several. */
export const buildAuditedUpdates = (_db: unknown, slot: Slots<AuditedUpdates>) => {
  const entry = (
    ['id', 'actor_kind', 'actor_id', 'action', 'target_type', 'target_id', 'details'] as const
  ).map(slot);
  return textQuery<UpdatesStored>(AUDITED_UPDATES, [
    slot('workspace_id'),
    slot('request_id'),
    slot('changed'),
    slot('articleIds'),
    slot('traceparent'),
    ...entry,
  ]);
};

/**
 * Stores article.updated for each PUBLISHED one of the articles, and its deliveries, as rows of the caller's
 * transaction. Those that another transaction holds are left to the relays, as a frozen list.
 */
export async function recordArticleUpdates(
  tx: Tx,
  { actor, requestId }: Pick<VerbContext, 'actor' | 'requestId'>,
  articleIds: readonly ArticleId[],
  changed: readonly ArticleChange[],
): Promise<void> {
  const traceparent = currentTraceparent();
  const [stored] = await storeUpdates(tx, actor.workspaceId, requestId, changed, articleIds, traceparent);
  notifyOfUpdates(tx, stored);
}

/** Signals events that such a statement has stored, and articles that it has left, once they are committed. */
export function notifyOfUpdates(tx: Tx, stored: UpdatesStored | undefined): void {
  if (stored === undefined) return;
  if (stored.events > 0) afterCommit(tx, signalOf(stored).notify);
  if (stored.skipped) afterCommit(tx, deliveriesStored.notify);
}
