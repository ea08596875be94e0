import { type Kysely, sql } from 'kysely';

/**
 * Parts are found by what they are; their number is their order. The text of a part as an editor left it stands beside the
 * one that was written. The title and the keywords that a person gave an article are frozen as its run begins.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE generation_parts
      ADD COLUMN kind text CHECK (kind IN ('outline', 'plan', 'section', 'faq', 'edits', 'lead')),
      ADD COLUMN revised jsonb`.execute(db);
  await sql`
    UPDATE generation_parts AS part SET kind = CASE
      WHEN part = 0 THEN 'outline'
      WHEN generations.config ->> 'faq' = 'true'
        AND part = (SELECT max(last.part) FROM generation_parts AS last WHERE last.job_id = part.job_id) THEN 'faq'
      ELSE 'section' END
    FROM generations WHERE generations.job_id = part.job_id`.execute(db);
  await sql`ALTER TABLE generation_parts ALTER COLUMN kind SET NOT NULL`.execute(db);
  await sql`ALTER TABLE generations ADD COLUMN own_title text, ADD COLUMN own_keywords text[]`.execute(db);
}
