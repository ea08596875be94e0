import { sql } from 'kysely';
import type { Origin } from '../../context.ts';
import type { Tx } from '../../db/database.ts';
import { textStatement } from '../../db/prepared.ts';
import type { Places } from '../../document/render/places.ts';
import { linkTargets } from '../../document/render/places.ts';
import type { ArticleId } from '../../ids.ts';
import { JOIN_LINK_TARGET } from './target-sql.ts';

/**
 * Parameters: the article, the articles it links to, the request's id. A save and a concurrent publication cannot see each
 * other before they commit. So an article with a new link is listed for a check, which runs after both.
 */
const insertLinks = textStatement<never>(
  'store_article_links',
  `WITH article AS (
     SELECT id, workspace_id, project_id, primary_language, is_translation FROM articles WHERE id = $1
   ), gone AS (
     DELETE FROM article_links WHERE article_id = $1 AND target_id <> ALL ($2::uuid[])
   ), added AS (
     INSERT INTO article_links (workspace_id, project_id, article_id, target_id, leads_to, address)
     SELECT article.workspace_id, article.project_id, article.id, link.target_id, now.id, now.address
     FROM article CROSS JOIN unnest($2::uuid[]) AS link (target_id)
     LEFT JOIN LATERAL (SELECT led.* FROM (SELECT link.target_id) AS link ${JOIN_LINK_TARGET}) AS now ON true
     ON CONFLICT DO NOTHING
     RETURNING article_id, workspace_id
   )
   INSERT INTO link_checks (article_id, workspace_id, request_id)
   SELECT DISTINCT article_id, workspace_id, $3 FROM added
   ON CONFLICT DO NOTHING`,
);

/**
 * Stores which articles an article links to, and their current addresses. Every writer of a body calls it after it has
 * written the article's row.
 * @param before the places of the body that was replaced; null for a new article
 */
export async function storeLinks(
  tx: Tx,
  { requestId }: Pick<Origin, 'requestId'>,
  articleId: ArticleId,
  before: Places | null,
  after: Places | null,
): Promise<void> {
  const targets = linkTargets(after);
  const known = new Set(linkTargets(before));
  if (targets.length === known.size && targets.every((id) => known.has(id))) return;
  await insertLinks(tx, articleId, targets, requestId);
}

/** Lists an article with links for a check: they may lead elsewhere because the article itself has changed. */
export async function checkLinksOf(
  tx: Tx,
  { requestId }: Pick<Origin, 'requestId'>,
  articleId: ArticleId,
): Promise<void> {
  await sql`
    INSERT INTO link_checks (article_id, workspace_id, request_id)
    SELECT article_id, workspace_id, ${requestId}::text FROM article_links WHERE article_id = ${articleId} LIMIT 1
    ON CONFLICT DO NOTHING`.execute(tx);
}
