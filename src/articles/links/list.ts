/**
 * The list of articles whose links may lead elsewhere, since another one was published, moved or deleted, or their project
 * has another address template. Whoever changes an address notes it in its transaction (`recordAddressChange`).
 */
import type { Database } from '../../db/database.ts';
import { textStatement } from '../../db/prepared.ts';
import { retryingConflicts } from '../../db/transaction.ts';

/** Notes that one statement turns into a list. */
const MAX_NOTES = 100;

/**
 * Parameter: notes at most. An article is listed when it links to the noted one or to another of its translation group,
 * whose links lead to their siblings. Of a project with another template each article with a link is listed.
 */
const listNoted = textStatement<{ notes: number }>(
  'list_linking_articles',
  `WITH noted AS (
     DELETE FROM address_changes WHERE id = ANY (ARRAY(
       SELECT id FROM address_changes ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED))
     RETURNING workspace_id, project_id, target_id, target_group_id, request_id
   ), changed AS (
     SELECT DISTINCT ON (project_id, target_id) * FROM noted ORDER BY project_id, target_id
   ), target AS (
     SELECT project_id, request_id, target_id AS id FROM changed WHERE target_id IS NOT NULL
     UNION
     SELECT changed.project_id, changed.request_id, member.id FROM changed
     JOIN articles AS member ON member.translation_group_id = changed.target_group_id
   ), linking AS (
     SELECT link.article_id, link.workspace_id, target.request_id FROM target
     JOIN article_links AS link ON link.project_id = target.project_id AND link.target_id = target.id
     UNION ALL
     SELECT article.id, article.workspace_id, changed.request_id FROM changed
     JOIN articles AS article ON (article.workspace_id, article.project_id) = (changed.workspace_id, changed.project_id)
     CROSS JOIN LATERAL (SELECT FROM article_links WHERE article_id = article.id LIMIT 1) AS link
     WHERE changed.target_id IS NULL
   ), listed AS (
     INSERT INTO link_checks (article_id, workspace_id, request_id)
     SELECT DISTINCT ON (article_id) article_id, workspace_id, request_id FROM linking ORDER BY article_id
     ON CONFLICT (article_id) DO NOTHING
   )
   SELECT count(*)::integer AS notes FROM noted`,
);

/**
 * Turns notes into the list, in one statement with their removal: a worker that is lost leaves either. Notes that are too
 * many for one statement, by what links there, are listed by fewer at a time.
 */
export async function listLinkingArticles(db: Database): Promise<void> {
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
