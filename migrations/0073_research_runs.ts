import { type Kysely, sql } from 'kysely';

/**
 * What runs search and read, each a row before it is requested, so that a lost worker repeats little of it. Pages become sources of
 * the article when its run settles. Research comes before the outline, whose number is 0: its parts have negative numbers.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE generation_searches (
      job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
      purpose text NOT NULL CHECK (purpose IN ('research', 'claims')),
      number integer NOT NULL CHECK (number > 0),
      query text NOT NULL,
      tries integer NOT NULL DEFAULT 0,
      found text[],
      PRIMARY KEY (job_id, purpose, number)
    )`.execute(db);
  await sql`
    CREATE TABLE generation_pages (
      job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
      purpose text NOT NULL CHECK (purpose IN ('research', 'claims')),
      number integer NOT NULL CHECK (number > 0),
      id uuid NOT NULL,
      address text NOT NULL,
      tries integer NOT NULL DEFAULT 0,
      refusal text,
      url text,
      title text,
      site text,
      published_at timestamptz(3),
      fetched_at timestamptz(3),
      hash text,
      text text,
      PRIMARY KEY (job_id, purpose, number),
      CHECK (refusal IS NULL OR text IS NULL),
      CHECK (text IS NULL OR num_nulls(url, title, site, fetched_at, hash) = 0)
    )`.execute(db);
  await sql`
    ALTER TABLE generation_parts DROP CONSTRAINT generation_parts_part_check,
      DROP CONSTRAINT generation_parts_kind_check,
      ADD CONSTRAINT generation_parts_kind_check CHECK (kind IN ('questions', 'notes', 'outline', 'plan', 'section', 'faq',
        'edits', 'claims', 'verdicts', 'corrections', 'lead', 'imagePrompts'))`.execute(db);
  await sql`
    ALTER TABLE projects ADD COLUMN citations text NOT NULL DEFAULT 'links'
      CHECK (citations IN ('links', 'list', 'none'))`.execute(db);
}
