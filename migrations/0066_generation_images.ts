import { type Kysely, sql } from 'kysely';

/**
 * The images of a generation, each with the id of the asset that it will be. Their calls are counted like those for the
 * parts of the text. Bytes that an open job has stored are named by it until an asset names them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE generation_images (
      job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
      number integer NOT NULL CHECK (number >= 0),
      role text NOT NULL CHECK (role IN ('hero', 'inline')),
      asset_id uuid NOT NULL,
      quality text NOT NULL CHECK (quality IN ('standard', 'hd')),
      style text,
      section text,
      prompt text,
      alt_text text,
      caption text,
      state text NOT NULL DEFAULT 'planned'
        CHECK (state IN ('planned', 'prompted', 'drawn', 'processed', 'delivered', 'failed')),
      reason text,
      asked boolean NOT NULL DEFAULT false,
      calls integer NOT NULL DEFAULT 0,
      unanswered integer NOT NULL DEFAULT 0,
      drawn_hash text,
      processed jsonb,
      PRIMARY KEY (job_id, number),
      CHECK (state <> 'failed' OR reason IS NOT NULL)
    )`.execute(db);
  await sql`
    CREATE TABLE staged_blobs (
      hash text NOT NULL,
      job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
      PRIMARY KEY (hash, job_id)
    )`.execute(db);
  await sql`CREATE INDEX staged_blobs_job_idx ON staged_blobs (job_id)`.execute(db);
  // The words are counted once it is known which images are there.
  await sql`ALTER TABLE generations DROP COLUMN words`.execute(db);
  await sql`
    ALTER TABLE generation_calls ALTER COLUMN part DROP NOT NULL, ADD COLUMN image integer,
      ADD CHECK (num_nonnulls(part, image) = 1)`.execute(db);
  await sql`
    ALTER TABLE generation_parts DROP CONSTRAINT generation_parts_kind_check,
      ADD CONSTRAINT generation_parts_kind_check
        CHECK (kind IN ('outline', 'plan', 'section', 'faq', 'edits', 'lead', 'imagePrompts'))`.execute(db);
}
