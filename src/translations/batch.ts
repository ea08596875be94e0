import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { JobId } from '../ids.ts';
import { translateSegments } from '../providers/translate.ts';
import { ProviderError, type TranslationProvider } from '../providers/types.ts';

/** Progress while translating ends here; the rest belongs to finalizing. */
const TRANSLATED_PROGRESS = 95;
/** Keys are made of positions, so their numbers give the order in which a model should read the texts. */
const READING_ORDER = new Intl.Collator('en', { numeric: true });

/**
 * Translates what is left of one batch and stores every usable text as soon as it is there, so that neither a
 * crash nor a failure of the rest asks for it again.
 * @returns the number of segments asked for; 0 when a crash came after they were stored, or the job has ended
 * @throws {ProviderError} when the provider could not, or would not, translate a segment
 */
export async function translateBatch(
  { db, provider }: { db: Database; provider: TranslationProvider },
  input: { jobId: JobId; batch: number; signal: AbortSignal },
): Promise<number> {
  const { jobId, batch, signal } = input;
  const translation = await db
    .selectFrom('translations')
    .select(['source_language', 'target_language'])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  const segments = await db
    .selectFrom('translation_segments')
    .select(['key', 'source_text'])
    .where('job_id', '=', jobId)
    .where('batch', '=', batch)
    .where('target_text', 'is', null)
    .execute();
  segments.sort((one, other) => READING_ORDER.compare(one.key, other.key));
  if (segments.length > 0) {
    if (!(await markAsked(db, jobId, batch))) return 0;
    await translateSegments(provider, {
      sourceLanguage: translation.source_language,
      targetLanguage: translation.target_language,
      segments: segments.map((segment) => ({
        id: segment.key,
        kind: 'paragraph',
        text: segment.source_text,
      })),
      signal,
      keep: (usable) => storeTranslations(db, jobId, usable),
    }).catch(async (error: unknown) => {
      // What an engine refused is not work that anybody has to pay.
      if (error instanceof ProviderError) await unmarkAsked(db, jobId, batch);
      throw error;
    });
  }
  await db
    .updateTable('jobs')
    .set({
      progress: sql`GREATEST(progress, (
        SELECT floor(${TRANSLATED_PROGRESS} * count(target_text) / count(*))::integer
        FROM translation_segments WHERE job_id = ${jobId}))`,
    })
    .where('id', '=', jobId)
    .where('status', '=', 'TRANSLATING')
    .execute();
  return segments.length;
}

/**
 * Notes that an engine is about to be asked for a batch, so that whoever cancels the job from now on has it counted.
 * @returns false when the job has ended
 */
async function markAsked(db: Database, jobId: JobId, batch: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    WITH job AS (SELECT id FROM jobs WHERE id = ${jobId} AND ended_at IS NULL FOR SHARE)
    UPDATE translations SET asked_batches = array_append(array_remove(asked_batches, ${batch}), ${batch})
    FROM job WHERE translations.job_id = job.id
  `.execute(db);
  return numAffectedRows === 1n;
}

const unmarkAsked = (db: Database, jobId: JobId, batch: number) =>
  sql`UPDATE translations SET asked_batches = array_remove(asked_batches, ${batch}) WHERE job_id = ${jobId}`.execute(
    db,
  );

async function storeTranslations(
  db: Database,
  jobId: JobId,
  usable: ReadonlyMap<string, string>,
): Promise<void> {
  await sql`
    UPDATE translation_segments SET target_text = done.text
    FROM unnest(${[...usable.keys()]}::text[], ${[...usable.values()]}::text[]) AS done (key, text)
    WHERE job_id = ${jobId} AND translation_segments.key = done.key
  `.execute(db);
}
