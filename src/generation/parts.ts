import { sql } from 'kysely';
import type { Database, Queryable } from '../db/database.ts';
import type { JobId } from '../ids.ts';

/** The part that the outline is; those after it are the sections, in their order, and the FAQ. */
export const OUTLINE_PART = 0;

/** A part as it is kept. */
export interface Part {
  readonly part: number;
  /** As planned until it is written. */
  readonly words: number;
  readonly content: unknown;
}

/** The parts of a job in their order, those that are not written yet with a content of null. */
export const readParts = (db: Queryable, jobId: JobId): Promise<Part[]> =>
  db
    .selectFrom('generation_parts')
    .select(['part', 'words', 'content'])
    .where('job_id', '=', jobId)
    .orderBy('part')
    .execute();

/** Plans parts of so many words each, from the given one on. Those that are there already stay as they are. */
export async function planParts(
  db: Queryable,
  jobId: JobId,
  first: number,
  words: readonly number[],
): Promise<void> {
  await sql`
    INSERT INTO generation_parts (job_id, part, words)
    SELECT ${jobId}, ${first} + position - 1, words
    FROM unnest(${[...words]}::integer[]) WITH ORDINALITY AS planned (words, position)
    ON CONFLICT DO NOTHING`.execute(db);
}

/**
 * Notes that a writer is about to be asked for a part, so that whoever cancels the job from now on has it counted.
 * @returns false when the job has ended
 */
export async function markAsked(db: Database, jobId: JobId, part: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    WITH job AS (SELECT id FROM jobs WHERE id = ${jobId} AND ended_at IS NULL FOR SHARE)
    UPDATE generation_parts SET asked = true FROM job
    WHERE generation_parts.job_id = job.id AND part = ${part}`.execute(db);
  return numAffectedRows === 1n;
}

/** Takes the note back: what a writer refused is not work that anybody has to pay. */
export async function unmarkAsked(db: Database, jobId: JobId, part: number): Promise<void> {
  await db
    .updateTable('generation_parts')
    .set({ asked: false })
    .where('job_id', '=', jobId)
    .where('part', '=', part)
    .where('content', 'is', null)
    .execute();
}

/** Stores a part that was written, once: what another attempt has stored stays. */
export async function storePart(
  db: Database,
  jobId: JobId,
  part: number,
  { content, words, repairs }: { content: object; words: number; repairs: readonly string[] },
): Promise<void> {
  await db
    .updateTable('generation_parts')
    .set({ content: JSON.stringify(content), words, repairs: [...repairs] })
    .where('job_id', '=', jobId)
    .where('part', '=', part)
    .where('content', 'is', null)
    .execute();
}
