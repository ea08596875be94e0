import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every save writes articles. */
export const online = true;

/** Addresses of projects, which article links to which, and what has to be rendered again for it. */
export async function up(_db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  await steps.alter(sql`ALTER TABLE projects ADD COLUMN IF NOT EXISTS address_template text`);
  await steps.alter(sql`
    CREATE TABLE IF NOT EXISTS article_links (
      workspace_id uuid NOT NULL,
      project_id uuid NOT NULL,
      article_id uuid NOT NULL,
      target_id uuid NOT NULL,
      PRIMARY KEY (article_id, target_id),
      CONSTRAINT article_links_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE
    )`);
  await steps.createIndex(
    'article_links_target_idx',
    'ON article_links (project_id, target_id, article_id, workspace_id)',
  );
  await steps.alter(sql`
    CREATE TABLE IF NOT EXISTS address_changes (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      project_id uuid NOT NULL,
      target_id uuid,
      request_id text
    )`);
  // An article that is deleted meanwhile is passed over; a foreign key would wait for whoever edits one. Rounded to a
  // millisecond, what is due at once could be due later.
  await steps.alter(sql`
    CREATE TABLE IF NOT EXISTS stale_renderings (
      article_id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      request_id text,
      due_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )`);
  await steps.createIndex('stale_renderings_due_idx', 'ON stale_renderings (workspace_id, due_at)');
  // A link that is new may have been rendered before its target was published in another transaction, so it is looked
  // at once more.
  await steps.alter(sql`
    CREATE OR REPLACE FUNCTION keep_article_links() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      targets uuid[] := ARRAY(
        SELECT DISTINCT (target #>> '{}')::uuid
        FROM jsonb_path_query(NEW.document, '$.blocks[*].links[*].articleId') AS target);
    BEGIN
      DELETE FROM article_links WHERE article_id = NEW.id AND target_id <> ALL (targets);
      IF targets <> '{}' THEN
        INSERT INTO article_links (workspace_id, project_id, article_id, target_id)
        SELECT NEW.workspace_id, NEW.project_id, NEW.id, target FROM unnest(targets) AS target
        ON CONFLICT DO NOTHING;
        IF FOUND THEN
          INSERT INTO stale_renderings (article_id, workspace_id) VALUES (NEW.id, NEW.workspace_id)
          ON CONFLICT DO NOTHING;
        END IF;
      END IF;
      RETURN NULL;
    END $$`);
  await steps.alter(sql`
    CREATE OR REPLACE TRIGGER articles_keep_links AFTER INSERT OR UPDATE OF document ON articles
    FOR EACH ROW EXECUTE FUNCTION keep_article_links()`);
}
