import { sql } from 'kysely';
import type { Database, Queryable } from '../db/database.ts';
import type { JobId } from '../ids.ts';
import { lockOpenJob } from '../jobs/run-state.ts';
import type { CallNotes } from './observe-writer.ts';

/** Part 0 is the outline; the sections follow in order, then the FAQ. */
export const OUTLINE_PART = 0;

/** A stored part. */
export interface Part {
  readonly part: number;
  /** Planned words until it is written. */
  readonly words: number;
  /** Calls with a response so far, over all attempts. */
  readonly calls: number;
  readonly content: unknown;
}

/** A job's parts in order; `content` is null until a part is written. */
export const readParts = (db: Queryable, jobId: JobId): Promise<Part[]> =>
  db
    .selectFrom('generation_parts')
    .select(['part', 'words', 'calls', 'content'])
    .where('job_id', '=', jobId)
    .orderBy('part')
    .execute();

/** Adds planned parts with these word counts, from `first` on. Existing parts stay. */
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
 * Marks a part as requested: if the job ends unpaid from now on, it counts.
 * @returns false when the job has ended
 */
export async function markRequested(db: Database, jobId: JobId, part: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    WITH job AS (${lockOpenJob(jobId)})
    UPDATE generation_parts SET asked = true FROM job
    WHERE generation_parts.job_id = job.id AND part = ${part}`.execute(db);
  return numAffectedRows === 1n;
}

/** Adds calls and repairs to a part that is not written yet. */
export async function notePart(
  db: Database,
  jobId: JobId,
  part: number,
  { calls, repairs, asked }: CallNotes & { readonly asked: boolean },
): Promise<void> {
  await db
    .updateTable('generation_parts')
    .set((eb) => ({ asked, calls: eb('calls', '+', calls), repairs: added(repairs) }))
    .where('job_id', '=', jobId)
    .where('part', '=', part)
    .where('content', 'is', null)
    .execute();
}

/** Stores a written part, unless another attempt has stored it. */
export async function storePart(
  db: Database,
  jobId: JobId,
  part: number,
  { content, words, calls, repairs }: CallNotes & { content: object; words: number },
): Promise<void> {
  await db
    .updateTable('generation_parts')
    .set((eb) => ({
      content: JSON.stringify(content),
      words,
      calls: eb('calls', '+', calls),
      repairs: added(repairs),
      // A late attempt may have removed the mark.
      asked: true,
    }))
    .where('job_id', '=', jobId)
    .where('part', '=', part)
    .where('content', 'is', null)
    .execute();
}

const added = (repairs: readonly string[]) => sql<string[]>`repairs || ${[...repairs]}::text[]`;
