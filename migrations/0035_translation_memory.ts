import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every step of a translation reads and writes its segments. */
export const online = true;

/** What was translated before, by whom, and which versions have been read for it. */
export async function up(_db: Kysely<unknown>, { alter, createIndex }: OnlineSteps): Promise<void> {
  await alter(sql`
    CREATE TABLE IF NOT EXISTS translation_memory (
      workspace_id uuid NOT NULL,
      article_id uuid NOT NULL,
      text_key text NOT NULL,
      layer text NOT NULL CHECK (layer IN ('people', 'machine')),
      made_by text NOT NULL,
      target_text text NOT NULL,
      written_at timestamptz(3) NOT NULL DEFAULT now(),
      used_at timestamptz(3) NOT NULL DEFAULT now(),
      PRIMARY KEY (article_id, layer, text_key),
      CONSTRAINT translation_memory_maker_check CHECK ((layer = 'people') = (made_by = '')),
      CONSTRAINT translation_memory_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE
    )`);
  await createIndex(
    'translation_memory_text_idx',
    'ON translation_memory (workspace_id, text_key, made_by, written_at DESC)',
  );
  await createIndex('translation_memory_used_idx', 'ON translation_memory (used_at)');
  await alter(sql`
    CREATE TABLE IF NOT EXISTS remembered_versions (
      article_id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      read_of timestamptz(3),
      claimed_at timestamptz(3) NOT NULL,
      CONSTRAINT remembered_versions_article_fkey FOREIGN KEY (workspace_id, article_id)
        REFERENCES articles (workspace_id, id) ON DELETE CASCADE
    )`);
  await alter(sql`
    ALTER TABLE translation_segments ADD COLUMN IF NOT EXISTS from_memory text,
      ADD COLUMN IF NOT EXISTS text_key text, ADD COLUMN IF NOT EXISTS made_by text`);
}
