/** Engine requests of a job: which are counted, and the context that goes with each. */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { StoredContext } from '../db/tables.ts';
import type { StyleSheet } from '../document/translation/style-sheet.ts';
import type { JobId, WorkspaceId } from '../ids.ts';
import { lockOpenJob } from '../jobs/run-state.ts';
import { ProviderError, type ProviderErrorKind, type TranslationRequest } from '../providers/types.ts';
import { inTheBackground } from '../threads/share.ts';

/** Stands for the style sheet among the requested batches. */
export const STYLE_SHEET = -1;
/** Failures after responses of the engine. */
const RESPONDED: readonly ProviderErrorKind[] = ['refused', 'unusable'];

/** Context of a request: shared by all batches, but for `around`. */
export type PromptContext = Pick<
  TranslationRequest,
  'sourceLanguage' | 'targetLanguage' | 'context' | 'around'
>;

interface Row {
  readonly workspaceId: WorkspaceId;
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  readonly context: Omit<StoredContext, 'around' | 'placeholders'> | null;
  readonly around: StoredContext['around'][number] | null;
  readonly placeholders: StoredContext['placeholders'][number] | null;
  readonly sheet: StyleSheet | null;
  readonly frozen: boolean;
}

/** A request as marked. */
interface Requested {
  readonly workspaceId: WorkspaceId;
  readonly prompt: PromptContext;
  /** False while a style sheet may still be drawn for the job. */
  readonly frozen: boolean;
  /** What the empty tags of the texts stand for, by segment key. */
  readonly placeholders: StoredContext['placeholders'][number];
}

/**
 * Marks a batch, or the style sheet, as requested: if the job ends unpaid from now on, it counts. The first batch freezes
 * the sheet, so that all batches get the same one (contract.md V46).
 * @returns undefined when the job has ended
 */
export async function markRequested(
  db: Database,
  jobId: JobId,
  batch: number,
): Promise<Requested | undefined> {
  const sheet = batch === STYLE_SHEET ? sql`sheet` : sql`coalesce(sheet, context -> 'sheet', 'null')`;
  const { rows } = await sql<Row>`
    WITH job AS (${lockOpenJob(jobId)})
    UPDATE translations
    SET asked_batches = array_append(array_remove(asked_batches, ${batch}), ${batch}), sheet = ${sheet}
    FROM job WHERE translations.job_id = job.id
    RETURNING translations.workspace_id AS "workspaceId", source_language AS "sourceLanguage", target_language AS "targetLanguage",
      context - ${['around', 'placeholders']}::text[] AS context,
      context -> 'around' -> ${batch}::integer AS around,
      context -> 'placeholders' -> ${batch}::integer AS placeholders,
      coalesce(sheet, context -> 'sheet') AS sheet, sheet IS NOT NULL AS frozen
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { workspaceId, context, around, placeholders, sheet: present, frozen, ...languages } = row;
  const prompt = {
    ...languages,
    ...(context === null ? {} : { context: { ...context, sheet: present } }),
    ...(around === null ? {} : { around }),
  };
  return { workspaceId, prompt, frozen, placeholders: placeholders ?? {} };
}

/** Calls the engine, and removes the mark when it fails: a request counts only when the engine had responded. */
export async function requestEngine<Response>(
  db: Database,
  workspaceId: WorkspaceId,
  { jobId, batch }: { jobId: JobId; batch: number },
  call: () => Promise<Response>,
): Promise<Response> {
  try {
    return await inTheBackground(workspaceId, call);
  } catch (error) {
    if (error instanceof ProviderError && (batch === STYLE_SHEET || !RESPONDED.includes(error.kind))) {
      await sql`UPDATE translations SET asked_batches = array_remove(asked_batches, ${batch})
        WHERE job_id = ${jobId}`.execute(db);
    }
    throw error;
  }
}
