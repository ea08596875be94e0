import { type Kysely, sql } from 'kysely';

/**
 * What a workspace holds is counted by the statements that change it: its articles, and the octets of their texts and
 * revisions. A row of `workspace_usage` that nobody else is writing takes each change, so no write waits for another;
 * the sum of a workspace's rows counts. The guard runs with the COMMIT, and near a limit one commit after the other.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE article_revisions ADD COLUMN bytes integer NOT NULL DEFAULT 0`.execute(db);
  await sql`UPDATE article_revisions SET bytes = octet_length(document::text)`.execute(db);
  await sql`
    CREATE TABLE workspace_usage (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      articles integer NOT NULL,
      text_bytes bigint NOT NULL
    ) WITH (fillfactor = 50)`.execute(db);
  await sql`CREATE INDEX workspace_usage_workspace_idx ON workspace_usage (workspace_id)`.execute(db);

  await sql`
    CREATE FUNCTION count_usage(of_workspace uuid, more_articles bigint, more_bytes bigint) RETURNS void
    LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE workspace_usage SET articles = articles + more_articles, text_bytes = text_bytes + more_bytes
      WHERE id = (SELECT id FROM workspace_usage WHERE workspace_id = of_workspace
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED);
      IF NOT FOUND THEN
        -- None for a workspace whose own row goes with this statement.
        INSERT INTO workspace_usage (workspace_id, articles, text_bytes)
        SELECT id, more_articles, more_bytes FROM workspaces WHERE id = of_workspace;
      END IF;
    END $$`.execute(db);
  await sql`
    CREATE FUNCTION count_added_articles() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM count_usage(workspace_id, count(*), sum(bytes)) FROM added GROUP BY workspace_id;
      RETURN NULL;
    END $$`.execute(db);
  await sql`
    CREATE FUNCTION count_removed_articles() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM count_usage(workspace_id, -count(*), -sum(bytes)) FROM removed GROUP BY workspace_id;
      RETURN NULL;
    END $$`.execute(db);
  await sql`
    CREATE FUNCTION count_changed_article() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM count_usage(NEW.workspace_id, 0, NEW.bytes - OLD.bytes);
      RETURN NULL;
    END $$`.execute(db);
  await sql`
    CREATE FUNCTION count_added_revision() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM count_usage(NEW.workspace_id, 0, NEW.bytes);
      RETURN NULL;
    END $$`.execute(db);
  await sql`
    CREATE FUNCTION count_removed_revisions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM count_usage(workspace_id, 0, -sum(bytes)) FROM removed GROUP BY workspace_id;
      RETURN NULL;
    END $$`.execute(db);
  await sql`
    CREATE FUNCTION guard_usage(of_workspace uuid, adds_article boolean, times integer) RETURNS void
    LANGUAGE plpgsql AS $$
    DECLARE
      counted record;
    BEGIN
      FOR round IN 1..2 LOOP
        SELECT workspace.storage_bytes_limit AS allowed, coalesce(sum(usage.articles), 0) AS articles,
          workspace.storage_bytes_used + coalesce(sum(usage.text_bytes), 0) AS bytes INTO counted
        FROM workspaces AS workspace LEFT JOIN workspace_usage AS usage ON usage.workspace_id = workspace.id
        WHERE workspace.id = of_workspace GROUP BY workspace.id;
        -- Further from a limit, all that commits at this moment fits below it.
        EXIT WHEN round = 2 OR counted.articles <= 95000
          AND counted.bytes <= counted.allowed - greatest(counted.allowed / 20, 64 * 1048576);
        PERFORM pg_advisory_xact_lock(hashtextextended('usage ' || of_workspace, 0));
      END LOOP;
      IF adds_article AND counted.articles > 100000 THEN
        RAISE EXCEPTION 'too many articles' USING ERRCODE = 'check_violation', CONSTRAINT = 'articles_quota';
      END IF;
      IF counted.bytes > times * counted.allowed THEN
        RAISE EXCEPTION 'too many bytes' USING ERRCODE = 'check_violation', CONSTRAINT = 'storage_quota';
      END IF;
    END $$`.execute(db);
  await sql`
    CREATE FUNCTION guard_article() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      -- One that does not grow has left a revision.
      PERFORM guard_usage(NEW.workspace_id, TG_OP = 'INSERT',
        CASE WHEN TG_OP = 'INSERT' OR NEW.bytes > OLD.bytes THEN 1 ELSE 2 END);
      RETURN NULL;
    END $$`.execute(db);
  await sql`
    CREATE FUNCTION guard_images() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM guard_usage(NEW.id, false, 1);
      RETURN NULL;
    END $$`.execute(db);

  for (const trigger of [
    sql`articles_count_added AFTER INSERT ON articles REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION count_added_articles()`,
    sql`articles_count_removed AFTER DELETE ON articles REFERENCING OLD TABLE AS removed
      FOR EACH STATEMENT EXECUTE FUNCTION count_removed_articles()`,
    sql`articles_count_changed AFTER UPDATE ON articles
      FOR EACH ROW WHEN (NEW.bytes <> OLD.bytes) EXECUTE FUNCTION count_changed_article()`,
    sql`article_revisions_count_added AFTER INSERT ON article_revisions
      FOR EACH ROW EXECUTE FUNCTION count_added_revision()`,
    sql`article_revisions_count_removed AFTER DELETE ON article_revisions REFERENCING OLD TABLE AS removed
      FOR EACH STATEMENT EXECUTE FUNCTION count_removed_revisions()`,
  ]) {
    await sql`CREATE TRIGGER ${trigger}`.execute(db);
  }
  for (const trigger of [
    sql`articles_guard_added AFTER INSERT ON articles DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION guard_article()`,
    // What a job writes was admitted, and a new rendering is nobody's change.
    sql`articles_guard_changed AFTER UPDATE ON articles DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.version <> OLD.version AND NEW.author_kind IS DISTINCT FROM 'job'
        AND (NEW.bytes > OLD.bytes OR NEW.author_since IS DISTINCT FROM OLD.author_since))
      EXECUTE FUNCTION guard_article()`,
    sql`workspaces_guard_images AFTER UPDATE ON workspaces DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.storage_bytes_used > OLD.storage_bytes_used) EXECUTE FUNCTION guard_images()`,
  ]) {
    await sql`CREATE CONSTRAINT TRIGGER ${trigger}`.execute(db);
  }

  await sql`
    INSERT INTO workspace_usage (workspace_id, articles, text_bytes)
    SELECT workspace_id, sum(articles), sum(bytes) FROM (
      SELECT workspace_id, count(*) AS articles, sum(bytes) AS bytes FROM articles GROUP BY workspace_id
      UNION ALL SELECT workspace_id, 0, sum(bytes) FROM article_revisions GROUP BY workspace_id
    ) AS counted GROUP BY workspace_id`.execute(db);
}
