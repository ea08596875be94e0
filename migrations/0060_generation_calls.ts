import { type Kysely, sql } from 'kysely';

/**
 * Each call of a writer is a row before it is made. It outlives its article, so that what a workspace used stays known, and
 * goes by its age. A part counts the calls that began and were not answered.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE generation_parts ADD COLUMN unanswered integer NOT NULL DEFAULT 0`.execute(db);
  await sql`
    CREATE TABLE generation_calls (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      job_id uuid NOT NULL,
      part integer NOT NULL,
      model text NOT NULL,
      outcome text CHECK (outcome IN ('answered', 'unanswered', 'rejected')),
      input_tokens integer,
      cached_tokens integer,
      output_tokens integer,
      reasoning_tokens integer,
      created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
      ended_at timestamptz(3)
    )`.execute(db);
  await sql`CREATE INDEX generation_calls_job_idx ON generation_calls (job_id)`.execute(db);
  await sql`CREATE INDEX generation_calls_workspace_idx ON generation_calls (workspace_id, created_at)`.execute(
    db,
  );
  await sql`CREATE INDEX generation_calls_age_idx ON generation_calls (created_at)`.execute(db);
}
