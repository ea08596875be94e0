import { type Kysely, sql } from 'kysely';

/**
 * The texts of sources count for the storage quota, as `0047_bounds.ts` counts those of articles. Sources of before, and those that a
 * server of before stores, count nothing until they are read anew.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE article_sources ADD COLUMN bytes integer NOT NULL DEFAULT 0`.execute(db);
  await sql`
    CREATE FUNCTION count_added_sources() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM count_usage(workspace_id, 0, sum(bytes)) FROM added GROUP BY workspace_id HAVING sum(bytes) <> 0;
      RETURN NULL;
    END $$`.execute(db);
  await sql`
    CREATE FUNCTION count_removed_sources() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM count_usage(workspace_id, 0, -sum(bytes)) FROM removed GROUP BY workspace_id HAVING sum(bytes) <> 0;
      RETURN NULL;
    END $$`.execute(db);
  for (const trigger of [
    sql`article_sources_count_added AFTER INSERT ON article_sources REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION count_added_sources()`,
    sql`article_sources_count_removed AFTER DELETE ON article_sources REFERENCING OLD TABLE AS removed
      FOR EACH STATEMENT EXECUTE FUNCTION count_removed_sources()`,
  ]) {
    await sql`CREATE TRIGGER ${trigger}`.execute(db);
  }
}
