import { sql } from 'kysely';
import type { Database, Queryable } from '../db/database.ts';
import type { JobId } from '../ids.ts';

/** Part 0 is the outline; the sections follow in order, then the FAQ. */
export const OUTLINE_PART = 0;

/** A stored part. */
export interface Part {
  readonly part: number;
  /** Planned words until it is written. */
  readonly words: number;
  /** Calls with a response so far, over all attempts. */
  readonly calls: number;
  /** Calls without one. */
  readonly unanswered: number;
  readonly content: unknown;
}

/** A job's parts in order; `content` is null until a part is written. */
export const readParts = (db: Queryable, jobId: JobId): Promise<Part[]> =>
  db
    .selectFrom('generation_parts')
    .select(['part', 'words', 'calls', 'unanswered', 'content'])
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

/** Stores a written part, unless another attempt has stored it. */
export async function storePart(
  db: Database,
  jobId: JobId,
  part: number,
  { content, words }: { readonly content: object; readonly words: number },
): Promise<void> {
  await db
    .updateTable('generation_parts')
    // The end of its last call has removed the mark.
    .set({ content: JSON.stringify(content), words, asked: true })
    .where('job_id', '=', jobId)
    .where('part', '=', part)
    .where('content', 'is', null)
    .execute();
}
