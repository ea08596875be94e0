import { sql } from 'kysely';
import type { Database, Queryable } from '../db/database.ts';
import type { PartKind } from '../db/tables.ts';
import type { JobId } from '../ids.ts';
import type { WrittenPart } from './writing/brief.ts';
import type { Mended } from './writing/markdown/mendings.ts';

/** The numbers of the first parts, those of research below 0; those of the others follow in the order in which they are made. */
export const QUESTIONS_PART = -2;
export const NOTES_PART = -1;
export const OUTLINE_PART = 0;
export const PLAN_PART = 1;

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
  /** It was left out: its content is empty. */
  readonly left_out: boolean;
  /** Written by a writer of this job, or being written. */
  readonly asked: boolean;
  readonly content: unknown;
  /** The same after the editor's pass; null where that changed nothing. */
  readonly revised: unknown;
}

/** A section or the questions as they stand in the article. */
export const finalText = ({ content, revised }: Pick<Part, 'content' | 'revised'>): WrittenPart =>
  (revised ?? content) as WrittenPart;

/** A job's parts in order; `content` is null until a part is written. */
export const readParts = (db: Queryable, jobId: JobId): Promise<Part[]> =>
  db
    .selectFrom('generation_parts')
    .select(['part', 'kind', 'words', 'calls', 'unanswered', 'left_out', 'asked', 'content', 'revised'])
    .where('job_id', '=', jobId)
    .orderBy('part')
    .execute();

/** The parts of a kind, in order. */
export const ofKind = <Row extends { readonly kind: PartKind }>(
  parts: readonly Row[],
  kind: PartKind,
): Row[] => parts.filter((part) => part.kind === kind);

/** The first part of a kind. */
export const firstOf =
  (kind: PartKind) =>
  (parts: readonly Part[]): Part | undefined =>
    ofKind(parts, kind)[0];

/** Adds parts. Existing ones stay. */
export async function planParts(db: Queryable, jobId: JobId, parts: readonly PlannedPart[]): Promise<void> {
  await sql`
    INSERT INTO generation_parts (job_id, part, kind, words)
    SELECT ${jobId}, part, kind, words
    FROM unnest(${parts.map(({ part }) => part)}::integer[], ${parts.map(({ kind }) => kind)}::text[],
      ${parts.map(({ words }) => words)}::integer[]) AS planned (part, kind, words)
    ON CONFLICT DO NOTHING`.execute(db);
}

/** What is stored of a part. */
export interface NewContent {
  readonly content: object;
  readonly words: number;
  readonly mended?: Mended;
  /** Other parts as this one leaves them, by their numbers. */
  readonly revised?: ReadonlyMap<number, object>;
}

/**
 * Stores a written part, unless another attempt has stored it, in one statement with what it makes of others. Nothing
 * is stored once the article was put together, nor are edits once its lead was begun: they come too late.
 */
export async function storePart(
  db: Database,
  jobId: JobId,
  part: number,
  { content, words, key, mended = {}, revised = new Map() }: NewContent & { readonly key: string },
): Promise<void> {
  const others = [...revised].map(([number, text]) => ({ number, text }));
  await sql`
    WITH stored AS (
      -- The end of its last call has removed the mark.
      UPDATE generation_parts SET content = ${JSON.stringify(content)}::jsonb, words = ${words}, key = ${key},
        mended = ${JSON.stringify(mended)}::jsonb, asked = true
      WHERE job_id = ${jobId} AND part = ${part} AND content IS NULL
        AND NOT EXISTS (SELECT FROM generations WHERE job_id = ${jobId} AND document IS NOT NULL)
        AND (kind NOT IN ('edits', 'corrections') OR NOT EXISTS (SELECT FROM generation_parts AS lead
          WHERE lead.job_id = ${jobId} AND lead.kind = 'lead' AND (lead.asked OR lead.calls + lead.unanswered > 0)))
      RETURNING job_id
    )
    UPDATE generation_parts AS other SET revised = text
    FROM stored, jsonb_to_recordset(${JSON.stringify(others)}::jsonb) AS edited (number integer, text jsonb)
    WHERE other.job_id = stored.job_id AND other.part = edited.number`.execute(db);
}

/** Notes that the article does without a part that nothing usable came for. */
export async function leavePartOut(db: Database, jobId: JobId, part: number): Promise<void> {
  await db
    .updateTable('generation_parts')
    .set({ left_out: true, asked: sql<boolean>`calls > 0`, content: '{}' })
    .where('job_id', '=', jobId)
    .where('part', '=', part)
    .where('content', 'is', null)
    .execute();
}
