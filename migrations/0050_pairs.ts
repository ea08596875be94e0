import { type Kysely, sql } from 'kysely';

/**
 * Provenance keeps pairs of hashes of another kind, the ids of both sides, and beside them each unit's source as it was
 * translated, whose octets count as the workspace's. What older rows compared is unknown from here on: a refresh proposes
 * what differs, and makes its proposals again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE article_provenance
      ADD COLUMN sources jsonb NOT NULL DEFAULT '{}',
      ADD COLUMN bytes integer NOT NULL DEFAULT 0`.execute(db);
  await sql`
    UPDATE article_provenance SET units = (
      SELECT coalesce(jsonb_agg(
        jsonb_strip_nulls(jsonb_build_object(
          'key', unit ->> 'key', 'source', '', 'shape', '', 'texts', '[]'::jsonb, 'written', '[]'::jsonb,
          'blockId', CASE WHEN unit ->> 'key' LIKE 'block:%' THEN substr(unit ->> 'key', 7) END,
          'assetId', unit ->> 'assetId'))
        || jsonb_build_object('target', CASE WHEN unit ->> 'target' IS NOT NULL THEN '' END) ORDER BY place), '[]')
      FROM jsonb_array_elements(units) WITH ORDINALITY AS known (unit, place))`.execute(db);
  await sql`DELETE FROM proposals`.execute(db);

  await sql`
    CREATE FUNCTION count_provenance_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.bytes := CASE WHEN NEW.sources = '{}' THEN 0 ELSE octet_length(NEW.sources::text) END;
      RETURN NEW;
    END $$`.execute(db);
  await sql`
    CREATE FUNCTION count_changed_provenance() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM count_usage(NEW.workspace_id, 0, NEW.bytes - CASE WHEN TG_OP = 'UPDATE' THEN OLD.bytes ELSE 0 END);
      RETURN NULL;
    END $$`.execute(db);
  await sql`
    CREATE FUNCTION count_removed_provenance() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM count_usage(workspace_id, 0, -sum(bytes)) FROM removed GROUP BY workspace_id;
      RETURN NULL;
    END $$`.execute(db);
  for (const trigger of [
    sql`article_provenance_count_bytes BEFORE INSERT OR UPDATE OF sources ON article_provenance
      FOR EACH ROW EXECUTE FUNCTION count_provenance_bytes()`,
    sql`article_provenance_count_added AFTER INSERT ON article_provenance
      FOR EACH ROW WHEN (NEW.bytes > 0) EXECUTE FUNCTION count_changed_provenance()`,
    sql`article_provenance_count_changed AFTER UPDATE ON article_provenance
      FOR EACH ROW WHEN (NEW.bytes <> OLD.bytes) EXECUTE FUNCTION count_changed_provenance()`,
    sql`article_provenance_count_removed AFTER DELETE ON article_provenance REFERENCING OLD TABLE AS removed
      FOR EACH STATEMENT EXECUTE FUNCTION count_removed_provenance()`,
  ]) {
    await sql`CREATE TRIGGER ${trigger}`.execute(db);
  }
}
