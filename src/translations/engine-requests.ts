/** Engine requests of a job: which are counted, and the context that goes with each. */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { StoredContext } from '../db/tables.ts';
import type { StyleSheet } from '../document/translation/style-sheet.ts';
import type { JobId } from '../ids.ts';
import { lockOpenJob } from '../jobs/run-state.ts';
import { ProviderError, type TranslationRequest } from '../providers/types.ts';

/** Stands for the style sheet among the requested batches. */
export const STYLE_SHEET = -1;

/** Context of a request: shared by all batches, but for `around`. */
export type PromptContext = Pick<
  TranslationRequest,
  'sourceLanguage' | 'targetLanguage' | 'context' | 'around'
>;

interface Row {
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  readonly context: Omit<StoredContext, 'around'> | null;
  readonly around: StoredContext['around'][number] | null;
  readonly sheet: StyleSheet | null;
  readonly frozen: boolean;
}

/**
 * Marks a batch, or the style sheet, as requested: if the job is cancelled from now on, it counts as unpaid work. The first
 * batch freezes the sheet, so that all batches get the same one (contract.md V46).
 * @returns the prompt context, and whether the sheet in it is frozen or may still be drawn; undefined when the job has ended
 */
export async function markRequested(
  db: Database,
  jobId: JobId,
  batch: number,
): Promise<{ readonly prompt: PromptContext; readonly frozen: boolean } | undefined> {
  const sheet = batch === STYLE_SHEET ? sql`sheet` : sql`coalesce(sheet, context -> 'sheet', 'null')`;
  const { rows } = await sql<Row>`
    WITH job AS (${lockOpenJob(jobId)})
    UPDATE translations
    SET asked_batches = array_append(array_remove(asked_batches, ${batch}), ${batch}), sheet = ${sheet}
    FROM job WHERE translations.job_id = job.id
    RETURNING source_language AS "sourceLanguage", target_language AS "targetLanguage",
      context - 'around' AS context, context -> 'around' -> ${batch}::integer AS around,
      coalesce(sheet, context -> 'sheet') AS sheet, sheet IS NOT NULL AS frozen
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { context, around, sheet: present, frozen, ...languages } = row;
  const prompt = {
    ...languages,
    ...(context === null ? {} : { context: { ...context, sheet: present } }),
    ...(around === null ? {} : { around }),
  };
  return { prompt, frozen };
}

/** Calls the engine, and removes the mark when it fails: a failed request does not count. */
export async function requestEngine<Response>(
  db: Database,
  jobId: JobId,
  batch: number,
  call: () => Promise<Response>,
): Promise<Response> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof ProviderError) {
      await sql`UPDATE translations SET asked_batches = array_remove(asked_batches, ${batch})
        WHERE job_id = ${jobId}`.execute(db);
    }
    throw error;
  }
}
