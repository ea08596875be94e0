import { sql } from 'kysely';
import type { Database, Queryable } from '../db/database.ts';
import type { JobId } from '../ids.ts';
import { lockOpenJob } from '../jobs/run-state.ts';
import type { Notes } from './repairs.ts';

/** The part that the outline is; those after it are the sections, in their order, and the FAQ. */
export const OUTLINE_PART = 0;

/** A part as it is kept. */
export interface Part {
  readonly part: number;
  /** As planned until it is written. */
  readonly words: number;
  /** Answered so far, over all attempts. */
  readonly calls: number;
  readonly content: unknown;
}

/** The parts of a job in their order, those that are not written yet with a content of null. */
export const readParts = (db: Queryable, jobId: JobId): Promise<Part[]> =>
  db
    .selectFrom('generation_parts')
    .select(['part', 'words', 'calls', 'content'])
    .where('job_id', '=', jobId)
    .orderBy('part')
    .execute();

/** Plans parts of this many words each, from the given one on. Those that are there already stay as they are. */
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
 * Marks that a writer is about to be asked for a part: a job that is cancelled from now on is charged for it.
 * @returns false when the job has ended
 */
export async function markRequested(db: Database, jobId: JobId, part: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    WITH job AS (${lockOpenJob(jobId)})
    UPDATE generation_parts SET asked = true FROM job
    WHERE generation_parts.job_id = job.id AND part = ${part}`.execute(db);
  return numAffectedRows === 1n;
}

/** Adds what a writer did for a part that is not written yet. */
export async function notePart(
  db: Database,
  jobId: JobId,
  part: number,
  { calls, repairs, asked }: Notes & { readonly asked: boolean },
): Promise<void> {
  await db
    .updateTable('generation_parts')
    .set((eb) => ({ asked, calls: eb('calls', '+', calls), repairs: added(repairs) }))
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
  { content, words, calls, repairs }: Notes & { content: object; words: number },
): Promise<void> {
  await db
    .updateTable('generation_parts')
    .set((eb) => ({
      content: JSON.stringify(content),
      words,
      calls: eb('calls', '+', calls),
      repairs: added(repairs),
      // An attempt that came too late may have taken the mark away.
      asked: true,
    }))
    .where('job_id', '=', jobId)
    .where('part', '=', part)
    .where('content', 'is', null)
    .execute();
}

const added = (repairs: readonly string[]) => sql<string[]>`repairs || ${[...repairs]}::text[]`;
