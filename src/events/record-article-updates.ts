import { type RawBuilder, sql } from 'kysely';
import type { VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { allowLongStatements } from '../db/transaction.ts';
import type { ArticleChange } from './catalog.ts';
import { OUTBOX_CHANNEL } from './record.ts';

/** The most a statement that tells of many articles may take, in milliseconds: above the pool's own limit. */
const STATEMENT_TIMEOUT_MS = 600_000;

/** How many articles a change touched, published or not, and how many events it sent. */
export interface ArticleUpdates {
  readonly articles: number;
  readonly events: number;
}

/**
 * Stores one article.updated for each PUBLISHED one of the articles, and its deliveries, as rows of the caller's
 * transaction: one statement for any number of articles, which builds the bodies itself. They are the bytes that
 * `JSON.stringify` would give. Article rows are read without a lock; endpoints as `recordEvents` reads them. The CASE
 * keeps Postgres to the articles' ids: before it has statistics, as after an import, it would read an index of all
 * published ones for each article.
 *
 * @param articles a statement with a column `article_id`, run once: a SELECT, or a DELETE with RETURNING
 */
export async function recordArticleUpdates(
  tx: Tx,
  { actor, requestId }: Pick<VerbContext, 'actor' | 'requestId'>,
  articles: RawBuilder<unknown>,
  changed: readonly ArticleChange[],
): Promise<ArticleUpdates> {
  const { workspaceId } = actor;
  await allowLongStatements(tx, STATEMENT_TIMEOUT_MS);
  const { rows } = await sql<ArticleUpdates>`
    WITH touched AS (
      ${articles}
    ), input AS MATERIALIZED (
      SELECT gen_random_uuid() AS id, article.id AS article_id,
        convert_to(row_to_json(body)::text, 'UTF8') AS body
      FROM touched
      JOIN articles AS article ON article.id = touched.article_id
      CROSS JOIN LATERAL (
        SELECT article.id AS "articleId", article.workspace_id AS "workspaceId",
          article.project_id AS "projectId", article.slug, article.status,
          article.primary_language AS "primaryLanguage",
          article.translation_group_id AS "translationGroupId", article.title,
          ${[...changed]}::text[] AS changed
      ) AS payload
      CROSS JOIN LATERAL (SELECT 'article.updated' AS event, row_to_json(payload) AS data) AS body
      WHERE CASE WHEN article.workspace_id = ${workspaceId} AND article.status = 'PUBLISHED' THEN true ELSE false END
    ), stored AS (
      INSERT INTO events (id, workspace_id, type, article_id, body, request_id)
      SELECT id, ${workspaceId}, 'article.updated', article_id, body, ${requestId} FROM input
      RETURNING 1
    ), subscribers AS MATERIALIZED (
      SELECT id FROM webhook_endpoints
      WHERE workspace_id = ${workspaceId} AND active AND 'article.updated' = ANY (events)
      ORDER BY id
      FOR KEY SHARE
    ), queued AS (
      INSERT INTO webhook_deliveries (id, workspace_id, endpoint_id, event_id, event_type, next_attempt_at)
      SELECT gen_random_uuid(), ${workspaceId}, subscribers.id, input.id, 'article.updated', now()
      FROM input CROSS JOIN subscribers
      RETURNING 1
    ), notified AS MATERIALIZED (
      SELECT pg_notify(${OUTBOX_CHANNEL}, '') WHERE EXISTS (SELECT FROM queued)
    )
    SELECT (SELECT count(*) FROM touched)::integer AS articles, (SELECT count(*) FROM stored)::integer AS events
    FROM (SELECT count(*) FROM notified) AS told
  `.execute(tx);
  return rows[0] ?? { articles: 0, events: 0 };
}
