import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every translation reads and writes the memory, and every request reads workspaces. */
export const online = true;

/**
 * An entry of the memory has an id, its languages, kind and source text, and belongs to a project. A deleted one keeps
 * its row with the hash of its text, so that the same text does not come back. `written_at` is the time of the approval
 * of what people have approved. Earlier entries, whose source text is unknown, go. The octets of entries count for the
 * storage quota.
 */
export async function up(_db: Kysely<unknown>, steps: OnlineSteps): Promise<void> {
  const { alter, createIndex, replaceIndex } = steps;
  await alter(
    sql`ALTER TABLE workspaces ADD COLUMN IF NOT EXISTS shared_memory boolean NOT NULL DEFAULT false`,
  );
  await alter(sql`
    DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM information_schema.columns
          WHERE table_schema = current_schema AND table_name = 'translation_memory' AND column_name = 'id') THEN
        TRUNCATE translation_memory, remembered_versions;
        ALTER TABLE translation_memory
          ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(),
          ADD COLUMN project_id uuid NOT NULL,
          ADD COLUMN kind text NOT NULL,
          ADD COLUMN source_language text NOT NULL,
          ADD COLUMN target_language text NOT NULL,
          ADD COLUMN source_text text NOT NULL,
          ADD COLUMN bytes integer NOT NULL
            GENERATED ALWAYS AS (octet_length(source_text) + octet_length(target_text)) STORED,
          ADD COLUMN deleted_hash bytea,
          ALTER COLUMN used_at DROP NOT NULL,
          ADD CONSTRAINT translation_memory_deleted_check CHECK ((deleted_hash IS NULL) = (used_at IS NOT NULL));
      END IF;
    END $$`);
  await alter(sql`
    CREATE OR REPLACE FUNCTION count_added_memory() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM count_usage(workspace_id, 0, sum(bytes)) FROM added GROUP BY workspace_id HAVING sum(bytes) <> 0;
      RETURN NULL;
    END $$`);
  await alter(sql`
    CREATE OR REPLACE FUNCTION count_removed_memory() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM count_usage(workspace_id, 0, -sum(bytes)) FROM removed GROUP BY workspace_id HAVING sum(bytes) <> 0;
      RETURN NULL;
    END $$`);
  await alter(sql`
    CREATE OR REPLACE FUNCTION count_changed_memory() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM count_usage(workspace_id, 0, sum(more)) FROM (
        SELECT workspace_id, bytes AS more FROM added UNION ALL SELECT workspace_id, -bytes FROM removed
      ) AS changed GROUP BY workspace_id HAVING sum(more) <> 0;
      RETURN NULL;
    END $$`);
  for (const trigger of [
    sql`translation_memory_count_added AFTER INSERT ON translation_memory REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION count_added_memory()`,
    sql`translation_memory_count_removed AFTER DELETE ON translation_memory REFERENCING OLD TABLE AS removed
      FOR EACH STATEMENT EXECUTE FUNCTION count_removed_memory()`,
    sql`translation_memory_count_changed AFTER UPDATE ON translation_memory
      REFERENCING NEW TABLE AS added OLD TABLE AS removed
      FOR EACH STATEMENT EXECUTE FUNCTION count_changed_memory()`,
  ]) {
    await alter(sql`CREATE OR REPLACE TRIGGER ${trigger}`);
  }
  await createIndex('translation_memory_id_idx', 'ON translation_memory (id)', 'UNIQUE');
  await replaceIndex(
    'translation_memory_text_idx',
    'ON translation_memory (workspace_id, text_key, made_by, written_at DESC, article_id DESC)',
  );
  await createIndex(
    'translation_memory_project_idx',
    `ON translation_memory (workspace_id, project_id, text_key, written_at DESC, article_id DESC)
      WHERE layer = 'people' AND deleted_hash IS NULL`,
  );
  await createIndex(
    'translation_memory_list_idx',
    'ON translation_memory (workspace_id, written_at DESC, id DESC) WHERE deleted_hash IS NULL',
  );
  await createIndex(
    'translation_memory_language_idx',
    'ON translation_memory (workspace_id, target_language, written_at DESC, id DESC) WHERE deleted_hash IS NULL',
  );
}
