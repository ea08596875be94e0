import { type Kysely, sql } from 'kysely';

/** What a generation works with: its settings and price, and the outline and sections that it has made. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // With constant defaults: no row is written.
  await sql`
    ALTER TABLE articles
      ADD COLUMN outline_edited boolean NOT NULL DEFAULT false,
      ADD COLUMN made_title text,
      ADD COLUMN made_slug text`.execute(db);
  await sql`
    CREATE TABLE generations (
      job_id uuid PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      features jsonb NOT NULL,
      price jsonb NOT NULL,
      writer text,
      config jsonb,
      voice text,
      template text,
      document jsonb,
      words integer CHECK (words >= 0),
      failure text
    )`.execute(db);
  await sql`
    CREATE TABLE generation_parts (
      job_id uuid NOT NULL REFERENCES generations ON DELETE CASCADE,
      part integer NOT NULL CHECK (part >= 0),
      asked boolean NOT NULL DEFAULT false,
      words integer NOT NULL CHECK (words >= 0),
      repairs text[] NOT NULL DEFAULT '{}',
      content jsonb,
      PRIMARY KEY (job_id, part)
    )`.execute(db);
}
