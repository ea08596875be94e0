/** What an engine is asked for on behalf of a job, and what it is told beside that. */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { StoredContext } from '../db/tables.ts';
import type { JobId } from '../ids.ts';
import { ProviderError, type TermPair, type TranslationRequest } from '../providers/types.ts';

/** Stands for the term list among the batches that were asked for. */
export const TERM_LIST = -1;

/** What requests of a job have in common, and what differs by batch. */
export type Told = Pick<TranslationRequest, 'sourceLanguage' | 'targetLanguage' | 'context' | 'around'>;

interface Row {
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  readonly context: Omit<StoredContext, 'around'> | null;
  readonly around: StoredContext['around'][number] | null;
  readonly terms: readonly TermPair[] | null;
}

/**
 * Notes that an engine is about to be asked for a batch, or the term list, so that whoever cancels the job from now on
 * has it counted. From the first batch on the term list stays what it is then, so that all batches are told the same.
 * @returns what to tell the engine, and of how many pairs its term list is, null while it is open; undefined when the job has ended
 */
export async function markAsked(
  db: Database,
  jobId: JobId,
  batch: number,
): Promise<{ readonly told: Told; readonly drawn: number | null } | undefined> {
  const terms = batch === TERM_LIST ? sql`terms` : sql`coalesce(terms, '[]')`;
  const { rows } = await sql<Row>`
    WITH job AS (SELECT id FROM jobs WHERE id = ${jobId} AND ended_at IS NULL FOR SHARE)
    UPDATE translations
    SET asked_batches = array_append(array_remove(asked_batches, ${batch}), ${batch}), terms = ${terms}
    FROM job WHERE translations.job_id = job.id
    RETURNING source_language AS "sourceLanguage", target_language AS "targetLanguage",
      context - 'around' AS context, context -> 'around' -> ${batch}::integer AS around, terms
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { context, around, terms: drawn, ...languages } = row;
  const told = {
    ...languages,
    ...(context === null ? {} : { context: { ...context, terms: drawn ?? [] } }),
    ...(around === null ? {} : { around }),
  };
  return { told, drawn: drawn?.length ?? null };
}

/** Asks, and takes the note back when the engine refuses: that is not work that anybody has to pay. */
export async function asking<Answer>(
  db: Database,
  jobId: JobId,
  batch: number,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ProviderError) {
      await sql`UPDATE translations SET asked_batches = array_remove(asked_batches, ${batch})
        WHERE job_id = ${jobId}`.execute(db);
    }
    throw error;
  }
}
