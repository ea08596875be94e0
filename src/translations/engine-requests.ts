/** What an engine is asked for on behalf of a job, and what it is told beside that. */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { StoredContext } from '../db/tables.ts';
import type { JobId } from '../ids.ts';
import { lockOpenJob } from '../jobs/run-state.ts';
import { ProviderError, type TermPair, type TranslationRequest } from '../providers/types.ts';

/** Stands for the term list among the batches that were asked for. */
export const TERM_LIST = -1;

/** What requests of a job have in common, and what differs by batch. */
export type RequestContext = Pick<
  TranslationRequest,
  'sourceLanguage' | 'targetLanguage' | 'context' | 'around'
>;

interface Row {
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  readonly context: Omit<StoredContext, 'around'>;
  readonly around: StoredContext['around'][number] | null;
  readonly terms: readonly TermPair[] | null;
}

/**
 * Marks that an engine is about to be asked for a batch or the term list: a job that is cancelled from now on is charged
 * for it. The first batch closes the term list, so that all batches send the same one.
 * @returns what the requests have in common, and how many pairs the term list has, null while it is open; undefined when the job has ended
 */
export async function markRequested(
  db: Database,
  jobId: JobId,
  batch: number,
): Promise<{ readonly request: RequestContext; readonly drawn: number | null } | undefined> {
  const terms = batch === TERM_LIST ? sql`terms` : sql`coalesce(terms, '[]')`;
  const { rows } = await sql<Row>`
    WITH job AS (${lockOpenJob(jobId)})
    UPDATE translations
    SET asked_batches = array_append(array_remove(asked_batches, ${batch}), ${batch}), terms = ${terms}
    FROM job WHERE translations.job_id = job.id
    RETURNING source_language AS "sourceLanguage", target_language AS "targetLanguage",
      context - 'around' AS context, context -> 'around' -> ${batch}::integer AS around, terms
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { context, around, terms: drawn, ...languages } = row;
  const request = {
    ...languages,
    context: { ...context, terms: drawn ?? [] },
    ...(around === null ? {} : { around }),
  };
  return { request, drawn: drawn?.length ?? null };
}

/** Asks for what was marked, and removes the mark when the engine fails: that call is not charged. */
export async function askMarked<Answer>(
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
