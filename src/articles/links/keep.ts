import type { Origin } from '../../context.ts';
import type { Tx } from '../../db/database.ts';
import { textStatement } from '../../db/prepared.ts';
import type { Places } from '../../document/render/places.ts';
import { linkTargets } from '../../document/render/places.ts';
import type { ArticleId } from '../../ids.ts';
import { WHERE_LINK_LEADS } from './leads.ts';

/**
 * Parameters: the article, the articles it links to, the request's id. A save cannot see a publication that has not
 * committed, nor that one the save's link. So an article with a new link is checked once more: whichever commits last,
 * the check comes after both.
 */
const storeLinks = textStatement<never>(
  'store_article_links',
  `WITH article AS (
     SELECT id, workspace_id, project_id, primary_language, is_translation FROM articles WHERE id = $1
   ), gone AS (
     DELETE FROM article_links WHERE article_id = $1 AND target_id <> ALL ($2::uuid[])
   ), added AS (
     INSERT INTO article_links (workspace_id, project_id, article_id, target_id, leads_to, address)
     SELECT article.workspace_id, article.project_id, article.id, link.target_id, now.id, now.address
     FROM article CROSS JOIN unnest($2::uuid[]) AS link (target_id)
     LEFT JOIN LATERAL (SELECT led.* FROM (SELECT link.target_id) AS link ${WHERE_LINK_LEADS}) AS now ON true
     ON CONFLICT DO NOTHING
     RETURNING article_id, workspace_id
   )
   INSERT INTO link_checks (article_id, workspace_id, request_id)
   SELECT DISTINCT article_id, workspace_id, $3 FROM added
   ON CONFLICT DO NOTHING`,
);

/**
 * Stores which articles a written article links to, with the addresses that it shows from now on. Whoever writes a body
 * calls it, after the article's row is written.
 * @param before the places of the body that was replaced; null for a new article
 */
export async function keepLinks(
  tx: Tx,
  { requestId }: Pick<Origin, 'requestId'>,
  articleId: ArticleId,
  before: Places | null,
  after: Places | null,
): Promise<void> {
  const targets = linkTargets(after);
  const known = new Set(linkTargets(before));
  if (targets.length === known.size && targets.every((id) => known.has(id))) return;
  await storeLinks(tx, articleId, targets, requestId);
}
