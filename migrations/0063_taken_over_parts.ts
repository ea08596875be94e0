import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Articles and generations are read and written all the time. */
export const online = true;

/**
 * A part has a key of what it was made from, so that a later run finds it, and a failed run the cause if that was its text.
 *
 * The words of published articles by project and language, so that those nearest to a new article are found. Chinese and
 * Japanese have no spaces, so there each character is a word. No word holds a space, so none is taken for a project.
 */
export async function up(_db: Kysely<unknown>, { alter, createIndex }: OnlineSteps): Promise<void> {
  await alter(sql`
    ALTER TABLE generation_parts ADD COLUMN IF NOT EXISTS key text,
      ADD COLUMN IF NOT EXISTS taken_over boolean NOT NULL DEFAULT false`);
  await alter(sql`
    ALTER TABLE generations ADD COLUMN IF NOT EXISTS fresh boolean NOT NULL DEFAULT false,
      ADD COLUMN IF NOT EXISTS failure_cause text CHECK (failure_cause IN ('length', 'language', 'refusal'))`);
  await createIndex('generation_parts_key_idx', 'ON generation_parts (key) WHERE key IS NOT NULL');
  await alter(sql`
    CREATE OR REPLACE FUNCTION plain_words(content text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1000
    RETURN to_tsvector('simple', regexp_replace(content, '([\\u3040-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff])', ' \\1 ', 'g'))`);
  await alter(sql`
    CREATE OR REPLACE FUNCTION article_words(title text, target_keywords text[], secondary_keywords text[])
    RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000
    RETURN setweight(plain_words(title), 'A')
      || setweight(plain_words(array_to_string(target_keywords || secondary_keywords, ' ')), 'B')`);
  await createIndex(
    'articles_words_idx',
    `ON articles USING gin ((article_words(title, target_keywords, secondary_keywords)
      || array_to_tsvector(ARRAY[project_id::text || ' ' || primary_language]))) WHERE status = 'PUBLISHED'`,
  );
}
