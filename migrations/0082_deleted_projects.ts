import { type Kysely, sql } from 'kysely';

/**
 * The texts of a deleted project leave the storage quota with its deletion: a row of `workspace_usage` that is the project's own counts
 * against those that are still to be removed, and goes with the project. Everything else is counted in rows of no project.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE workspace_usage ADD COLUMN project_id uuid UNIQUE REFERENCES projects ON DELETE CASCADE`.execute(
    db,
  );
  await sql`
    CREATE OR REPLACE FUNCTION count_usage(of_workspace uuid, more_articles bigint, more_bytes bigint) RETURNS void
    LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE workspace_usage SET articles = articles + more_articles, text_bytes = text_bytes + more_bytes
      WHERE id = (SELECT id FROM workspace_usage WHERE workspace_id = of_workspace AND project_id IS NULL
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED);
      IF NOT FOUND THEN
        -- None for a workspace whose own row goes with this statement.
        INSERT INTO workspace_usage (workspace_id, articles, text_bytes)
        SELECT id, more_articles, more_bytes FROM workspaces WHERE id = of_workspace;
      END IF;
    END $$`.execute(db);
}
