import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every request about an article reads its row. */
export const online = true;

const BATCH = 500;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** The octets of an article's document as text, HTML and Markdown: what a response needs is known before its row is read. */
export async function up(db: Kysely<unknown>, { alter }: OnlineSteps): Promise<void> {
  await alter(sql`ALTER TABLE articles ADD COLUMN IF NOT EXISTS bytes integer NOT NULL DEFAULT 0`);
  await alter(sql`
    CREATE OR REPLACE FUNCTION count_article_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.bytes := octet_length(NEW.document::text) + coalesce(octet_length(NEW.content_html), 0)
        + coalesce(octet_length(NEW.content_markdown), 0);
      RETURN NEW;
    END $$`);
  await alter(sql`
    CREATE OR REPLACE TRIGGER articles_count_bytes
    BEFORE INSERT OR UPDATE OF document, content_html, content_markdown ON articles
    FOR EACH ROW EXECUTE FUNCTION count_article_bytes()`);
  for (let after: string | undefined = BEFORE_ALL; after !== undefined; ) after = await countAfter(db, after);
}

/** Counts some articles that no save has counted yet. @returns the last one's id */
async function countAfter(db: Kysely<unknown>, after: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM articles WHERE id > ${after} AND bytes = 0 ORDER BY id LIMIT ${sql.lit(BATCH)}`.execute(
    db,
  );
  // The trigger counts what the row holds by then.
  const ids = rows.map(({ id }) => id);
  await sql`UPDATE articles SET document = document WHERE id = ANY (${ids}::uuid[]) AND bytes = 0`.execute(
    db,
  );
  return ids.at(-1);
}
