import { sql } from 'kysely';
import type { Database, Queryable } from '../db/database.ts';
import type { JobId } from '../ids.ts';
import type { PartKind } from './part-kinds.ts';
import type { Mended } from './writing/markdown/mendings.ts';

/** The outline's number; those of the others follow in the order in which they are made. */
export const OUTLINE_PART = 0;

/** A part to be written. */
export interface PlannedPart {
  /** Its place in the order of the job's parts. */
  readonly part: number;
  readonly kind: PartKind;
  /** Planned words until it is written. */
  readonly words: number;
}

/** A stored part. */
export interface Part extends PlannedPart {
  /** Calls with a response so far, over all attempts. */
  readonly calls: number;
  /** Calls without one. */
  readonly unanswered: number;
  /** The article does without it: its content is empty. */
  readonly left_out: boolean;
  readonly content: unknown;
}

/** A job's parts in order; `content` is null until a part is written. */
export const readParts = (db: Queryable, jobId: JobId): Promise<Part[]> =>
  db
    .selectFrom('generation_parts')
    .select(['part', 'kind', 'words', 'calls', 'unanswered', 'left_out', 'content'])
    .where('job_id', '=', jobId)
    .orderBy('part')
    .execute();

/** The parts of a kind, in order. */
export const ofKind = <Row extends { readonly kind: PartKind }>(
  parts: readonly Row[],
  kind: PartKind,
): Row[] => parts.filter((part) => part.kind === kind);

/** Adds parts. Existing ones stay. */
export async function planParts(db: Queryable, jobId: JobId, parts: readonly PlannedPart[]): Promise<void> {
  await sql`
    INSERT INTO generation_parts (job_id, part, kind, words)
    SELECT ${jobId}, part, kind, words
    FROM unnest(${parts.map(({ part }) => part)}::integer[], ${parts.map(({ kind }) => kind)}::text[],
      ${parts.map(({ words }) => words)}::integer[]) AS planned (part, kind, words)
    ON CONFLICT DO NOTHING`.execute(db);
}

/** Stores a written part, unless another attempt has stored it. */
export async function storePart(
  db: Database,
  jobId: JobId,
  part: number,
  {
    content,
    words,
    mended = {},
  }: { readonly content: object; readonly words: number; readonly mended?: Mended },
): Promise<void> {
  await db
    .updateTable('generation_parts')
    // The end of its last call has removed the mark.
    .set({ content: JSON.stringify(content), words, mended: JSON.stringify(mended), asked: true })
    .where('job_id', '=', jobId)
    .where('part', '=', part)
    .where('content', 'is', null)
    .execute();
}
