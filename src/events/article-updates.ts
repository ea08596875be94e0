import type { VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { textStatement } from '../db/prepared.ts';
import { afterCommit } from '../db/transaction.ts';
import type { ArticleId } from '../ids.ts';
import type { ArticleChange } from './catalog.ts';
import { deliveriesStored } from './stored.ts';

/**
 * One article.updated per PUBLISHED article of a set, with its deliveries. The statement builds the bodies itself: they
 * equal what `JSON.stringify` would give. Article rows are read without a lock, endpoints as in `recordEvents`. The
 * CASE makes Postgres use the articles' ids: without statistics, as after an import, it would read an index of all
 * published articles for each.
 *
 * @param source a statement of at most one row: `workspace_id`, `request_id`, `changed`, `article_ids`, and
 *   `created_at`; endpoints registered later get nothing
 * @param also further columns of the result
 */
export const articleUpdatesOf = (source: string, also = ''): string => `
  WITH source AS (${source}
  ), subscribers AS MATERIALIZED (
    SELECT id FROM webhook_endpoints
    WHERE workspace_id = (SELECT workspace_id FROM source) AND created_at <= (SELECT created_at FROM source)
      AND deleted_at IS NULL AND active AND 'article.updated' = ANY (events)
    ORDER BY id
    FOR KEY SHARE
  ), input AS MATERIALIZED (
    SELECT uuidv7() AS id, article.id AS article_id, source.workspace_id, source.request_id,
      convert_to('{"event":"article.updated","data":' || row_to_json(payload)::text || '}', 'UTF8') AS body
    FROM source
    CROSS JOIN LATERAL unnest(source.article_ids) WITH ORDINALITY AS listed (id, position)
    JOIN articles AS article ON article.id = listed.id
    CROSS JOIN LATERAL (
      SELECT article.id AS "articleId", article.workspace_id AS "workspaceId",
        article.project_id AS "projectId", article.slug, article.status,
        article.primary_language AS "primaryLanguage",
        article.translation_group_id AS "translationGroupId", article.title, source.changed
    ) AS payload
    WHERE EXISTS (SELECT FROM subscribers)
      AND CASE WHEN article.workspace_id = source.workspace_id AND article.status = 'PUBLISHED' THEN true ELSE false END
      AND NOT EXISTS (SELECT FROM projects AS gone WHERE gone.id = article.project_id AND gone.deleted_at IS NOT NULL)
    ORDER BY position
  ), stored AS (
    INSERT INTO events (id, workspace_id, type, article_id, body, request_id, created_at)
    SELECT id, workspace_id, 'article.updated', article_id, body, request_id, uuid_extract_timestamp(id) FROM input
  ), queued AS (
    INSERT INTO webhook_open
      (id, workspace_id, endpoint_id, event_id, event_created_at, event_type, due_at, created_at)
    SELECT id, workspace_id, endpoint_id, event_id, uuid_extract_timestamp(event_id), 'article.updated',
      clock_timestamp(), uuid_extract_timestamp(id)
    FROM (
      SELECT uuidv7() AS id, input.workspace_id, subscribers.id AS endpoint_id, input.id AS event_id
      FROM input CROSS JOIN subscribers
      ORDER BY input.id, subscribers.id
    ) AS delivery
  )
  SELECT (SELECT workspace_id FROM source) AS workspace_id, (SELECT count(*) FROM input)::integer AS events${also}`;

const storeUpdates = textStatement<{ events: number }>(
  'record_article_updates',
  articleUpdatesOf(`
    SELECT $1::uuid AS workspace_id, $2::text AS request_id, $3::text[] AS changed, $4::uuid[] AS article_ids,
      'infinity'::timestamptz AS created_at`),
);

/**
 * Stores article.updated for each PUBLISHED one of the articles, and its deliveries, as rows of the caller's
 * transaction.
 * @returns how many events
 */
export async function recordArticleUpdates(
  tx: Tx,
  { actor, requestId }: Pick<VerbContext, 'actor' | 'requestId'>,
  articleIds: readonly ArticleId[],
  changed: readonly ArticleChange[],
): Promise<number> {
  const [{ events } = { events: 0 }] = await storeUpdates(
    tx,
    actor.workspaceId,
    requestId,
    changed,
    articleIds,
  );
  if (events > 0) afterCommit(tx, deliveriesStored.notify);
  return events;
}
