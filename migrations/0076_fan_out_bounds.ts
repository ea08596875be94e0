import { type Kysely, sql } from 'kysely';

/**
 * The bounds of lists of articles that wait for their events: how many articles a list has, whether they count already, and
 * what the lists of a workspace have made, hour by hour.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE event_fanouts
      ADD COLUMN articles integer NOT NULL GENERATED ALWAYS AS (cardinality(article_ids)) STORED,
      ADD COLUMN counted boolean NOT NULL DEFAULT false`.execute(db);
  await sql`
    CREATE TABLE event_fanout_hours (
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      hour timestamptz(0) NOT NULL,
      events integer NOT NULL,
      PRIMARY KEY (workspace_id, hour)
    ) WITH (fillfactor = 50)`.execute(db);
}
