import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';
import { renderDocument } from '../src/document/render/document.ts';
import { RENDERER } from '../src/document/render/shared.ts';

/** Every request about an article reads its row. */
export const online = true;

const BATCH = 100;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/**
 * Stored renderings hold the places of links and images instead of addresses, which are read with the article. A link
 * keeps the address that was last reported, and an article whose links may lead elsewhere is on the list of checks.
 */
export async function up(db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.alter(sql`
    ALTER TABLE articles
      ADD COLUMN IF NOT EXISTS content_places json,
      ADD COLUMN IF NOT EXISTS version integer NOT NULL DEFAULT 1,
      ADD COLUMN IF NOT EXISTS is_translation boolean NOT NULL DEFAULT false`);
  await sql`UPDATE articles SET is_translation = true
    WHERE NOT is_translation AND id IN (SELECT article_id FROM article_provenance)`.execute(db);
  await steps.alter(sql`DROP TRIGGER IF EXISTS articles_keep_links ON articles`);
  await steps.alter(sql`DROP FUNCTION IF EXISTS keep_article_links()`);
  await steps.alter(sql`ALTER TABLE article_links ADD COLUMN IF NOT EXISTS address text`);
  await steps.alter(sql`ALTER TABLE address_changes ADD COLUMN IF NOT EXISTS target_group_id uuid`);
  await steps.alter(sql`DROP TABLE IF EXISTS stale_renderings`);
  // An article that is deleted meanwhile is passed over; a foreign key would wait for whoever edits one.
  await steps.alter(sql`
    CREATE TABLE IF NOT EXISTS link_checks (
      article_id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      request_id text
    )`);
  await steps.createIndex('link_checks_workspace_idx', 'ON link_checks (workspace_id, article_id)');
  await sql`
    UPDATE article_links AS link
    SET address = coalesce(named.published_url, replace(replace(project.address_template,
      '{language}', named.primary_language), '{slug}', named.slug))
    FROM articles AS named JOIN projects AS project ON project.id = named.project_id
    WHERE named.id = link.target_id AND named.project_id = link.project_id AND named.status = 'PUBLISHED'`.execute(
    db,
  );
  await sql`
    INSERT INTO link_checks (article_id, workspace_id) SELECT DISTINCT article_id, workspace_id FROM article_links
    ON CONFLICT DO NOTHING`.execute(db);
  for (let after: string | null = BEFORE_ALL; after !== null; ) after = await renderAfter(db, after);
}

/** Renders some articles anew. One that is saved meanwhile is left as the save renders it. @returns the last one's id */
async function renderAfter(db: Kysely<unknown>, after: string): Promise<string | null> {
  const { rows } = await sql<{ id: string; document: string }>`
    SELECT id, document::text AS document FROM articles
    WHERE id > ${after} AND content_html IS NOT NULL AND rendered_by IS DISTINCT FROM ${sql.lit(RENDERER)}
    ORDER BY id LIMIT ${sql.lit(BATCH)}`.execute(db);
  for (const { id, document } of rows) {
    const { html, markdown, places } = renderDocument(JSON.parse(document));
    await sql`
      UPDATE articles
      SET content_html = ${html}, content_markdown = ${markdown}, rendered_by = ${sql.lit(RENDERER)},
        content_places = ${places === null ? null : JSON.stringify(places)}
      WHERE id = ${id} AND document = ${document}::jsonb`.execute(db);
  }
  return rows.at(-1)?.id ?? null;
}
