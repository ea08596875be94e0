/** Engine requests of a job: which are counted, and the context that goes with each. */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { StoredContext } from '../db/tables.ts';
import type { JobId } from '../ids.ts';
import { lockOpenJob } from '../jobs/run-state.ts';
import {
  ProviderError,
  type ProviderErrorKind,
  type TermPair,
  type TranslationRequest,
} from '../providers/types.ts';

/** Stands for the term list among the requested batches. */
export const TERM_LIST = -1;
/** Failures after responses of the engine. */
const RESPONDED: readonly ProviderErrorKind[] = ['refused', 'unusable'];

/** Context of a request: shared by all batches, but for `around`. */
export type PromptContext = Pick<
  TranslationRequest,
  'sourceLanguage' | 'targetLanguage' | 'context' | 'around'
>;

interface Row {
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  readonly context: Omit<StoredContext, 'around' | 'placeholders'>;
  readonly around: StoredContext['around'][number] | null;
  readonly placeholders: StoredContext['placeholders'][number] | null;
  readonly terms: readonly TermPair[] | null;
}

/** A request as marked. */
interface Requested {
  readonly prompt: PromptContext;
  /** Number of pairs in the term list; null while it is open. */
  readonly pairs: number | null;
  /** What the empty tags of the texts stand for, by segment key. */
  readonly placeholders: StoredContext['placeholders'][number];
}

/**
 * Marks a batch, or the term list, as requested: if the job ends unpaid from now on, it counts. The first
 * batch freezes the term list, so that all batches get the same one.
 * @returns undefined when the job has ended
 */
export async function markRequested(
  db: Database,
  jobId: JobId,
  batch: number,
): Promise<Requested | undefined> {
  const terms = batch === TERM_LIST ? sql`terms` : sql`coalesce(terms, '[]')`;
  const { rows } = await sql<Row>`
    WITH job AS (${lockOpenJob(jobId)})
    UPDATE translations
    SET asked_batches = array_append(array_remove(asked_batches, ${batch}), ${batch}), terms = ${terms}
    FROM job WHERE translations.job_id = job.id
    RETURNING source_language AS "sourceLanguage", target_language AS "targetLanguage",
      context - ${['around', 'placeholders']}::text[] AS context,
      context -> 'around' -> ${batch}::integer AS around,
      context -> 'placeholders' -> ${batch}::integer AS placeholders, terms
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { context, around, placeholders, terms: extracted, ...languages } = row;
  const prompt = {
    ...languages,
    ...(context === null ? {} : { context: { ...context, terms: extracted ?? [] } }),
    ...(around === null ? {} : { around }),
  };
  return { prompt, pairs: extracted?.length ?? null, placeholders: placeholders ?? {} };
}

/** Calls the engine, and removes the mark when it fails: a request counts only when the engine had responded. */
export async function requestEngine<Response>(
  db: Database,
  jobId: JobId,
  batch: number,
  call: () => Promise<Response>,
): Promise<Response> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof ProviderError && (batch === TERM_LIST || !RESPONDED.includes(error.kind))) {
      await sql`UPDATE translations SET asked_batches = array_remove(asked_batches, ${batch})
        WHERE job_id = ${jobId}`.execute(db);
    }
    throw error;
  }
}
